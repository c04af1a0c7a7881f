/* Local memory: a stack and a heap for every core, all in one piece of the host's memory. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "slave.h"
#include "sw_internal.h"
#include "sw_shadow.h"

enum { PAGE = 4096, LARGEST = 1 << 18, SPARE = 1 << 18 }; /* LARGEST: bytes of local memory of any machine; SPARE: host stack below the local memory, for the emulator's own calls and overflows */

static char *arena;
static long each;

/* A core's part: a page that cannot be touched, its stack, its heap. */
void sw_place(sw_core *c, int id)
{
  const long stack = LARGEST + SPARE;
  if (!arena) {
    each = PAGE + stack + LARGEST;
    arena = mmap(NULL, (size_t)(CORES * each), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED)
      sw_fail("memory", "athread", 0, "no memory for %d cores", CORES);
    sw_shadow_of(arena, CORES * each);
    for (int k = 0; k < CORES; k++)
      mprotect(arena + k * each, PAGE, PROT_NONE);
  }
  c->stack = arena + id * each + PAGE;
  c->heap = c->stack + stack;
  c->lowest = c->heap;
  if (!c->used)
    c->used = calloc((size_t)(each / 8), sizeof *c->used);
  memset(sw_shadow(c->stack), 0, (size_t)(stack / 8));
  /* Local memory holds whatever was left in it: a pattern that no program stores makes use before definition visible. */
  if (!sw_model)
    sw_poison(c->heap - sw_local, sw_local);
}

int sw_whose(const void *p)
{
  const long at = (const char *)p - arena;
  return arena && at >= 0 && at < CORES * each ? (int)(at / each) : -1;
}

/* Words of 0xfff7 are numbers that are none (NaN), as floats and as doubles, and stay recognizable in sums and products. */
void sw_poison(char *p, long n)
{
  const uint64_t eight = 0xfff7fff7fff7fff7u;
  long k = 0;
  for (; k < n && (uintptr_t)(p + k) % 8; k++)
    p[k] = (char)((uintptr_t)(p + k) & 1 ? 0xff : 0xf7);
  for (; k + 8 <= n; k += 8)
    memcpy(p + k, &eight, 8);
  for (; k < n; k++)
    p[k] = (char)((uintptr_t)(p + k) & 1 ? 0xff : 0xf7);
}

long sw_undefined(const char *p, long n)
{
  for (long k = 0; k + 4 <= n; k += 4) {
    uint32_t word;
    uint64_t two;
    memcpy(&word, p + k, sizeof word);
    if ((word | 0x80000000u) == 0xfff7fff7u)
      return k;
    if ((uintptr_t)(p + k) % 8 || k + 8 > n)
      continue;
    memcpy(&two, p + k, sizeof two);
    if ((two | 0x8008000000000000u) == 0xfffffff7fff7fff7u)
      return k;
  }
  return -1;
}

/* How much of the local memory is in use, without the guard zones between objects. */
long sw_depth(sw_core *c, const char *frame)
{
  if (frame < c->lowest) {
    const long depth = c->top - frame - sw_guards(frame, c->top) + c->ldm_heap;
    c->lowest = (char *)frame;
    if (depth > sw_totals.ldm_peak)
      sw_totals.ldm_peak = depth;
    return depth;
  }
  return c->ldm_heap;
}

void sw_check_ldm(const void *p, long bytes, const char *name, const char *file, int line)
{
  sw_core *const c = &sw_cores[sw_current];
  const char *const a = p;
  const long depth = sw_depth(c, __builtin_frame_address(0));
  const int heap = a >= c->heap && a + bytes <= c->heap + c->ldm_heap;
  if (!heap && (a < c->stack || a + bytes > c->top))
    sw_fail("not-local", file, line, "%s does not lie in local memory", name);
  if (depth > sw_local)
    sw_fail("ldm-overflow", file, line, "local memory overflows at %s: %ld of %ld bytes are in use", name, depth,
            sw_local);
  if (sw_beyond(p, bytes))
    sw_fail("ldm-bounds", file, line, "%ld bytes for %s pass the end of what lies there", bytes, name);
}

/* This core has used some of its local memory at its present time. */
void sw_use(sw_core *c, const char *p, long bytes)
{
  const char *const base = c->stack - PAGE;
  for (long k = (p - base) / 8; k <= (p + bytes - 1 - base) / 8; k++)
    c->used[k] = c->know[c - sw_cores];
}

/* Somebody else fills local memory of a core, which must have finished with it, as far as the one who fills it knows. */
void sw_may_fill(const sw_core *to, const char *p, long bytes, const char *name, const char *file, int line)
{
  const char *const base = to->stack - PAGE;
  const uint32_t known = sw_cores[sw_current].know[to - sw_cores];
  for (long k = (p - base) / 8; k <= (p + bytes - 1 - base) / 8; k++)
    if (to - sw_cores != sw_current && to->used[k] > known)
      sw_fail("early", file, line, "%s is filled while core %d may still use it: no barrier lies between", name,
              (int)(to - sw_cores));
}

void *sw_ldm_malloc(size_t bytes, const char *file, int line)
{
  sw_core *const c = &sw_cores[sw_current];
  sw_called(file, line);
  const long need = (long)(bytes + 31) / 32 * 32, stack = c->top - (char *)__builtin_frame_address(0);
  if (c->ldm_heap + need + stack > sw_local)
    sw_fail("ldm-overflow", file, line, "local memory overflows: ldm_malloc of %zu bytes with %ld of %ld in use", bytes,
            c->ldm_heap + stack, sw_local);
  void *const p = c->heap + c->ldm_heap;
  c->ldm_heap += need;
  sw_poison(p, need);
  return p;
}

void ldm_free(void *p, size_t bytes)
{
  sw_core *const c = &sw_cores[sw_current];
  const long need = (long)(bytes + 31) / 32 * 32;
  if ((char *)p + need != c->heap + c->ldm_heap)
    sw_fail("ldm-free", c->file ? c->file : "athread", c->line, "ldm_free of %zu bytes that were not allocated last", bytes);
  c->ldm_heap -= need;
}
