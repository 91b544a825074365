/* The connection to the recorder: messages, a few queries, and their answers.
 *
 * A message consists of size (32 bits), kind (1 byte) and payload, in the byte order of the machine, on which both ends run. A forked
 * process opens its own connection, so that the recorder can distinguish processes.
 */
#define _GNU_SOURCE
#include "core.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_VARIABLE "SASSAN_RECORD_SOCKET"
#define MOST (1u << 30)

static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int connection = -1;
static int failed;
static unsigned connections;
static struct device assumed;

static void connection_lost(void) {
  /* The recorder or this recording has ended: nothing more would be recorded. */
  if (connection >= 0) close(connection);
  connection = -1;
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
  if (connection >= 0) close(connection);
  connection = -1;
  make_lock(); /* the previous lock belongs to a thread of the parent */
  forget_reports();
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

void *checked_allocation(void *memory) {
  if (memory == NULL) {
    static const char text[] = "sassan: out of memory in the stand-in library\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(87);
    _exit(87);
  }
  return memory;
}

static void send_parts(struct iovec *parts, size_t count) {
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};
  while (message.msg_iovlen) {
    ssize_t sent = sendmsg(connection, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) connection_lost();
    while (message.msg_iovlen && (size_t)sent >= message.msg_iov->iov_len) {
      sent -= (ssize_t)message.msg_iov->iov_len;
      message.msg_iov++;
      message.msg_iovlen--;
    }
    if (message.msg_iovlen) {
      message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
      message.msg_iov->iov_len -= (size_t)sent;
    }
  }
}

static void receive_bytes(void *data, size_t size) {
  char *at = data;
  while (size) {
    ssize_t received = recv(connection, at, size, 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) connection_lost();
    at += received;
    size -= (size_t)received;
  }
}

static void message(char kind, const void *head, size_t head_size, const void *body, size_t body_size) {
  before_message(kind);
  char start[5];
  uint32_t size = (uint32_t)(head_size + body_size);
  memcpy(start, &size, 4);
  start[4] = kind;
  struct iovec parts[] = {{start, sizeof start}, {(void *)head, head_size}, {(void *)body, body_size}};
  send_parts(parts, sizeof parts / sizeof *parts);
}

static void *answer(size_t *size) {
  uint32_t announced;
  receive_bytes(&announced, 4);
  if (announced > MOST) connection_lost();
  char *data = checked_allocation(malloc((size_t)announced + 1));
  receive_bytes(data, announced);
  data[announced] = 0;
  *size = announced;
  return data;
}

static void open_connection(void) {
  if (connection >= 0 || failed) return;
  const char *path = getenv(SOCKET_VARIABLE);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (path == NULL || strlen(path) >= sizeof address.sun_path) {
    failed = 1;
    return;
  }
  strcpy(address.sun_path, path);
  connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof address) < 0) {
    if (connection >= 0) close(connection);
    connection = -1;
    failed = 1;
    return;
  }
  connections++;
  uint32_t process = (uint32_t)getpid();
  message('H', &process, sizeof process, "", 0);
  size_t size;
  char *reply = answer(&size);
  if (size != sizeof assumed) connection_lost();
  memcpy(&assumed, reply, sizeof assumed);
  free(reply);
}

int connected(void) {
  open_connection();
  return connection >= 0;
}

unsigned generation(void) { return connections; }

const struct device *device(void) {
  open_connection();
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
