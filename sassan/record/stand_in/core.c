/* The connection to the recorder: messages out, few questions, answers in.
 *
 * A message is its size (32 bits), its kind (one byte) and its bytes, all in the byte order of the machine: both ends run on it. A process
 * that forks gets a connection of its own, so that the recorder always knows who speaks.
 */
#define _GNU_SOURCE
#include "core.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_VARIABLE "SASSAN_RECORD_SOCKET"
#define MOST (1u << 30)

static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int line = -1;
static int failed;
static unsigned connections;
static struct device assumed;

static void lost(void) {
  /* The recorder has ended, or has ended this recording: nothing that follows would be written down. */
  if (line >= 0) close(line);
  line = -1;
  fflush(NULL);
  _exit(86);
}

static void make_lock(void) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&lock, &kind);
  pthread_mutexattr_destroy(&kind);
}

static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void in_child(void) {
  if (line >= 0) close(line);
  line = -1;
  make_lock(); /* the old one belongs to a thread of the parent */
}

static void prepare(void) {
  make_lock();
  pthread_atfork(before_fork, after_fork, in_child);
}

void enter(void) {
  pthread_once(&once, prepare);
  pthread_mutex_lock(&lock);
}

void leave(void) { pthread_mutex_unlock(&lock); }

void *must(void *memory) {
  if (memory == NULL) {
    static const char text[] = "sassan: the stand-in for CUDA has no memory left\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(87);
    _exit(87);
  }
  return memory;
}

static void put(const void *data, size_t size) {
  const char *at = data;
  while (size) {
    ssize_t sent = send(line, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) lost();
    at += sent;
    size -= (size_t)sent;
  }
}

static void get(void *data, size_t size) {
  char *at = data;
  while (size) {
    ssize_t came = recv(line, at, size, 0);
    if (came < 0 && errno == EINTR) continue;
    if (came <= 0) lost();
    at += came;
    size -= (size_t)came;
  }
}

static void message(char kind, const void *head, size_t head_size, const void *body, size_t body_size) {
  char start[5];
  uint32_t size = (uint32_t)(head_size + body_size);
  memcpy(start, &size, 4);
  start[4] = kind;
  put(start, 5);
  put(head, head_size);
  put(body, body_size);
}

static void *answer(size_t *size) {
  uint32_t announced;
  get(&announced, 4);
  if (announced > MOST) lost();
  char *data = must(malloc((size_t)announced + 1));
  get(data, announced);
  data[announced] = 0;
  *size = announced;
  return data;
}

static void open_line(void) {
  if (line >= 0 || failed) return;
  const char *path = getenv(SOCKET_VARIABLE);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (path == NULL || strlen(path) >= sizeof address.sun_path) {
    failed = 1;
    return;
  }
  strcpy(address.sun_path, path);
  line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (line < 0 || connect(line, (struct sockaddr *)&address, sizeof address) < 0) {
    if (line >= 0) close(line);
    line = -1;
    failed = 1;
    return;
  }
  connections++;
  uint32_t process = (uint32_t)getpid();
  message('H', &process, sizeof process, "", 0);
  size_t size;
  char *said = answer(&size);
  if (size != sizeof assumed) lost();
  memcpy(&assumed, said, sizeof assumed);
  free(said);
}

int connected(void) {
  open_line();
  return line >= 0;
}

unsigned generation(void) { return connections; }

const struct device *device(void) {
  open_line();
  return &assumed;
}

void send_message(char kind, const void *head, size_t head_size, const void *body, size_t body_size) {
  if (!connected() || head_size + body_size > MOST) return;
  message(kind, head, head_size, body, body_size);
}

void *ask(char kind, const void *head, size_t head_size, const void *body, size_t body_size, size_t *size) {
  if (!connected() || head_size + body_size > MOST) return NULL;
  message(kind, head, head_size, body, body_size);
  return answer(size);
}

void note(const char *text) { send_message('N', text, strlen(text), "", 0); }

int unsupported(const char *name, int status) {
  enter();
  send_message('U', name, strlen(name), "", 0);
  leave();
  return status;
}
