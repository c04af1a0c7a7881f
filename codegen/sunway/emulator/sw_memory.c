/* Blocks of main memory that the program has allocated, and its global arrays, so that nothing passes their ends. */
#include <stdlib.h>
#include <string.h>
#include "sw_internal.h"

/* What the compiler says of the global objects of a file, each of which has a guard zone behind it. */
typedef struct {
  const char *at;
  size_t bytes, with_guard;
  const char *name;
  const void *more[4];
} global;
static struct { const global *first; long count; } files[256];
static int nfiles;

void __asan_register_globals(const global *first, long count)
{
  if (nfiles < 256) {
    files[nfiles].first = first;
    files[nfiles++].count = count;
  }
}
void __asan_unregister_globals(const global *first, long count) { (void)first, (void)count; }

static void check_globals(const char *mem, long bytes, const char *name, const char *file, int line)
{
  for (int f = 0; f < nfiles; f++)
    for (const global *g = files[f].first; g < files[f].first + files[f].count; g++)
      if (mem >= g->at && mem < g->at + g->with_guard && mem + bytes > g->at + g->bytes)
        sw_fail("bounds", file, line, "%s passes the end of %s, which has %zu bytes in main memory", name, g->name, g->bytes);
}

#ifdef __GLIBC__
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static struct block {
  const char *at;
  size_t bytes;
} *blocks;
static long count, room;
static int all; /* are the blocks of the whole program known? In a library that was loaded later they are not. */

/* The number of the first block behind p. */
static long behind(const char *p)
{
  long low = 0, high = count;
  while (low < high) {
    const long mid = (low + high) / 2;
    if (blocks[mid].at > p)
      high = mid;
    else
      low = mid + 1;
  }
  return low;
}

static void *noted(void *p, size_t bytes)
{
  if (!p || sw_current >= 0)
    return p;
  if (count == room) {
    room = 2 * room + 64;
    blocks = __libc_realloc(blocks, (size_t)room * sizeof *blocks);
  }
  const long at = behind(p);
  memmove(blocks + at + 1, blocks + at, (size_t)(count++ - at) * sizeof *blocks);
  blocks[at] = (struct block){ p, bytes };
  return p;
}

static void forget(const char *p)
{
  const long at = behind(p) - 1;
  if (at >= 0 && blocks[at].at == p)
    memmove(blocks + at, blocks + at + 1, (size_t)(--count - at) * sizeof *blocks);
}

void *malloc(size_t n) { return noted(__libc_malloc(n), n); }
void *calloc(size_t n, size_t each) { return noted(__libc_calloc(n, each), n * each); }
void *memalign(size_t a, size_t n) { return noted(__libc_memalign(a, n), n); }
void *aligned_alloc(size_t a, size_t n) { return noted(__libc_memalign(a, n), n); }
int posix_memalign(void **p, size_t a, size_t n) { return (*p = memalign(a, n)) ? 0 : 12; }

void *realloc(void *p, size_t n)
{
  forget(p);
  return noted(__libc_realloc(p, n), n);
}

void free(void *p)
{
  forget(p);
  __libc_free(p);
}

__attribute__((constructor)) static void probe(void)
{
  char *const p = strdup("whose malloc is it");
  const long at = behind(p) - 1;
  all = p && at >= 0 && blocks[at].at == p;
  free(p);
}

void sw_check_memory(const char *mem, long bytes, const char *name, const char *file, int line)
{
  const long at = behind(mem) - 1;
  if (!sw_model)
    check_globals(mem, bytes, name, file, line);
  if (sw_model || !all)
    return;
  const int inside = at >= 0 && mem < blocks[at].at + blocks[at].bytes;
  if (!inside && at + 1 < count && mem + bytes > blocks[at + 1].at - 16)
    sw_fail("bounds", file, line, "%s touches bytes ahead of an array in main memory", name);
  if (at < 0 || mem >= blocks[at].at + blocks[at].bytes + 64) /* what lies elsewhere is not known to end there */
    return;
  if (mem + bytes > blocks[at].at + blocks[at].bytes)
    sw_fail("bounds", file, line, "%s touches %ld bytes behind the end of an array of %zu bytes in main memory", name,
            (long)(mem + bytes - blocks[at].at) - (long)blocks[at].bytes, blocks[at].bytes);
}
#else
void sw_check_memory(const char *mem, long bytes, const char *name, const char *file, int line)
{
  if (!sw_model)
    check_globals(mem, bytes, name, file, line);
}
#endif
