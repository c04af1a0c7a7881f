/* Races between cores: for every byte of main memory, who wrote and who read it since the last barrier. */
#include <stdlib.h>
#include <string.h>
#include "sw_internal.h"

enum { PAGE = 4096, BUCKETS = 1 << 16 };

typedef struct page {
  uintptr_t number;
  struct page *next;
  uint32_t writer[PAGE], reader[PAGE]; /* epoch << 7 | core; reader core 64: several */
} page;

static page *buckets[BUCKETS];

static page *find(uintptr_t number)
{
  page **const slot = &buckets[(number * 0x9e3779b97f4a7c15u) >> 48];
  for (page *p = *slot; p; p = p->next)
    if (p->number == number)
      return p;
  page *const made = calloc(1, sizeof *made);
  made->number = number;
  made->next = *slot;
  return *slot = made;
}

static int byte(page *p, uintptr_t at, int write)
{
  const uint32_t stamp = (uint32_t)(sw_epoch << 7), mine = stamp | (uint32_t)sw_current;
  const uint32_t w = p->writer[at], r = p->reader[at];
  const int written = w >> 7 == stamp >> 7 && w != mine, read = r >> 7 == stamp >> 7 && r != mine;
  if (write)
    p->writer[at] = mine;
  else
    p->reader[at] = r >> 7 == stamp >> 7 && r != mine ? stamp | 64 : mine;
  return written ? (int)(w & 127) + 1 : write && read ? (int)(r & 127) + 1 : 0;
}

void sw_touch(int write, const char *mem, long len, long stride, long bsize, const char *file, int line,
              const char *name)
{
  if (!sw_races)
    return;
  for (long done = 0; done < len; done += bsize, mem += bsize + stride)
    for (long k = 0; k < bsize;) {
      const uintptr_t a = (uintptr_t)mem + (uintptr_t)k;
      page *const p = find(a / PAGE);
      for (uintptr_t at = a % PAGE; at < PAGE && k < bsize; at++, k++) {
        const int other = byte(p, at, write);
        if (other)
          sw_fail("race", file, line, "%s of %s and an access of core %d touch the same bytes without a barrier between",
                  write ? "a write" : "a read", name, other - 1);
      }
    }
}
