/* Races between cores: for every word of main memory, who wrote and who read it since the last barrier.
 *
 * Commands move whole words of four bytes. A put that finds in memory the very bytes it brings (it wrote back more than it
 * changed) is harmless beside reads, but not beside another core's writes: what it brings may be out of date.
 */
#include <stdlib.h>
#include <string.h>
#include "sw_internal.h"

enum { WORD = 4, PAGE = 1024, BUCKETS = 1 << 16 }; /* PAGE: words */

typedef struct page {
  uintptr_t number;
  struct page *next;
  uint32_t writer[PAGE], keeper[PAGE], reader[PAGE]; /* epoch << 7 | core; core 64: several. keeper: wrote no change */
  uint8_t holder[PAGE]; /* the core, plus one, that keeps this word in its local memory across barriers */
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

/* The core other than this one that left its mark in this epoch, plus one. */
static int other(uint32_t mark, uint32_t stamp)
{
  return mark >> 7 == stamp >> 7 && mark != (stamp | (uint32_t)sw_current) ? (int)(mark & 127) + 1 : 0;
}

static void mark(uint32_t *place, uint32_t stamp)
{
  *place = other(*place, stamp) ? stamp | 64 : stamp | (uint32_t)sw_current;
}

static int touch(page *p, uintptr_t at, int write, int change)
{
  const uint32_t stamp = (uint32_t)(sw_epoch << 7);
  const int writer = other(p->writer[at], stamp), keeper = other(p->keeper[at], stamp);
  const int reader = other(p->reader[at], stamp);
  mark(write ? change ? &p->writer[at] : &p->keeper[at] : &p->reader[at], stamp);
  return writer ? writer : write && change ? keeper ? keeper : reader : 0;
}

void sw_touch(int write, const char *mem, const char *ldm, long len, long stride, long bsize, const char *file,
              int line, const char *name)
{
  if (!sw_races)
    return;
  for (long done = 0; done < len; done += bsize, mem += bsize + stride)
    for (long k = 0; k < bsize;) {
      const uintptr_t word = ((uintptr_t)mem + (uintptr_t)k) / WORD;
      page *const p = find(word / PAGE);
      for (uintptr_t at = word % PAGE; at < PAGE && k < bsize; at++, k += WORD) {
        if (p->holder[at] && p->holder[at] != sw_current + 1)
          sw_fail("kept", file, line, "%s of %s touches bytes that core %d keeps in its local memory",
                  write ? "a write" : "a read", name, p->holder[at] - 1);
        const int core = touch(p, at, write, write && memcmp(mem + k, ldm + done + k, WORD));
        if (core)
          sw_fail("race", file, line, "%s of %s and an access of core %d touch the same bytes without a barrier between",
                  write ? "a write" : "a read", name, core - 1);
      }
    }
}

void sw_hold(int on, const void *mem, long len, long stride, long bsize, const char *file, int line)
{
  const long block = bsize ? bsize : len;
  const char *from = mem;
  if (!sw_races)
    return;
  for (long done = 0; done < len; done += block, from += block + stride)
    for (long k = 0; k < block; k += WORD) {
      const uintptr_t word = ((uintptr_t)from + (uintptr_t)k) / WORD;
      uint8_t *const holder = &find(word / PAGE)->holder[word % PAGE];
      if (on && *holder)
        sw_fail("kept", file, line, "core %d keeps these bytes already", *holder - 1);
      if (!on && *holder != sw_current + 1)
        sw_fail("kept", file, line, "bytes are released that are not kept here");
      *holder = (uint8_t)(on ? sw_current + 1 : 0);
    }
  sw_cores[sw_current].held += on ? len : -len;
}

void sw_meet(uint64_t group)
{
  (void)group;
  sw_epoch++;
  for (int k = 0; !sw_model && k < sw_threads; k++)
    for (int n = 0; n < sw_cores[k].npending; n++) { /* what is on its way counts on both sides of a barrier */
      sw_current = k;
      sw_touch_again(&sw_cores[k].pending[n]);
    }
}
