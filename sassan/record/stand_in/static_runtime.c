/* Programs that are linked with the static CUDA runtime: its functions jump to those of this library from the start.
 *
 * A static runtime has no entries that a loader could redirect, and it talks to the driver through tables without names. But unless the
 * program was stripped, its symbol table has the name and the place of every function; each is aligned to 16 bytes, which are enough for a jump.
 * This library is initialized before the program, but after the libraries of the program: those that hold a static runtime keep it.
 */
#define _GNU_SOURCE
#include "core.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define REGISTERS "__cudaRegisterFatBinary"
#define CODE ".nv_fatbin"
#define JUMP 16

#if defined __x86_64__
static const unsigned char instructions[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *(%rip); the address follows */
#elif defined __aarch64__
static const unsigned char instructions[] = {0x51, 0, 0, 0x58, 0x20, 0x02, 0x1f, 0xd6}; /* ldr x17, .+8; br x17; the address follows */
#else
static const unsigned char instructions[] = {0};
#endif

struct table {
  const ElfW(Sym) * symbols;
  size_t count;
  const char *names;
  size_t size;
};

static const void *part(const char *file, size_t size, uint64_t offset, uint64_t length) {
  return offset <= size && length <= size - offset ? file + offset : NULL;
}

static int find_table(const char *file, size_t size, struct table *table) {
  /* Say whether a file has GPU code and a symbol table. */
  const ElfW(Ehdr) *head = part(file, size, 0, sizeof *head);
  if (head == NULL || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return 0;
  const ElfW(Shdr) *sections = part(file, size, head->e_shoff, (uint64_t)head->e_shnum * sizeof *sections);
  if (sections == NULL || head->e_shstrndx >= head->e_shnum) return 0;
  const ElfW(Shdr) *names = &sections[head->e_shstrndx];
  const char *text = part(file, size, names->sh_offset, names->sh_size);
  int code = 0;
  for (unsigned i = 0; text != NULL && i < head->e_shnum; i++) {
    const ElfW(Shdr) *section = &sections[i];
    if (section->sh_name < names->sh_size) code |= strncmp(text + section->sh_name, CODE, names->sh_size - section->sh_name) == 0;
    if (section->sh_type != SHT_SYMTAB || section->sh_link >= head->e_shnum) continue;
    const ElfW(Shdr) *strings = &sections[section->sh_link];
    table->symbols = part(file, size, section->sh_offset, section->sh_size);
    table->count = section->sh_size / sizeof *table->symbols;
    table->names = part(file, size, strings->sh_offset, strings->sh_size);
    table->size = strings->sh_size;
  }
  return code && table->symbols != NULL && table->names != NULL && table->size && table->names[table->size - 1] == 0;
}

static const char *function_name(const struct table *table, size_t i) {
  /* The name of a function that the file defines, NULL for other symbols. */
  const ElfW(Sym) *symbol = &table->symbols[i];
  if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF || symbol->st_name >= table->size) return NULL;
  return table->names + symbol->st_name;
}

static void put_jump(char *from, const void *to) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  void *start = (void *)((uintptr_t)from / page * page);
  size_t size = (size_t)((uintptr_t)from + JUMP - (uintptr_t)start);
  if ((uintptr_t)from % JUMP || mprotect(start, size, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  memcpy(from, instructions, sizeof instructions);
  memcpy(from + sizeof instructions, &to, sizeof to);
  mprotect(start, size, PROT_READ | PROT_EXEC);
  __builtin___clear_cache(from, from + JUMP);
}

static void redirect(const struct table *table, char *base) {
  int is_static = 0, layout_12 = 0, later = 0;
  for (size_t i = 0; i < table->count; i++) {
    const char *name = function_name(table, i);
    if (name == NULL) continue;
    is_static |= strcmp(name, REGISTERS) == 0;
    layout_12 |= strcmp(name, "cudaGetDeviceProperties_v2") == 0; /* only CUDA 12 has it */
    later |= strcmp(name, "cudaLibraryLoadData") == 0;            /* since CUDA 12.8 */
  }
  Dl_info own;
  if (!is_static || sizeof instructions < 2 || !dladdr((void *)(uintptr_t)&redirect, &own)) return;
  void *library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  const char *version = layout_12 ? "libcudart.so.12" : later ? "libcudart.so.13" : "libcudart.so.11.0";
  for (size_t i = 0; library != NULL && i < table->count; i++) {
    const char *name = function_name(table, i);
    if (name == NULL || (strncmp(name, "cuda", 4) != 0 && strncmp(name, "__cuda", 6) != 0)) continue;
    const void *target = dlvsym(library, name, version);
    if (target == NULL) target = dlsym(library, name);
    if (target != NULL) put_jump(base + table->symbols[i].st_value, target);
  }
}

static int first_object(struct dl_phdr_info *object, size_t size, void *base) {
  (void)size;
  *(char **)base = (char *)object->dlpi_addr;
  return 1; /* the program is the first one */
}

__attribute__((constructor)) static void redirect_static_runtime(void) {
  struct table table = {0};
  struct stat status;
  char *base = NULL;
  int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  if (fstat(file, &status) == 0 && status.st_size > 0 && dl_iterate_phdr(first_object, &base)) {
    void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (data != MAP_FAILED) {
      if (find_table(data, (size_t)status.st_size, &table)) redirect(&table, base);
      munmap(data, (size_t)status.st_size);
    }
  }
  close(file);
}
