/* Order between cores, and races: for every word of main memory, who wrote and who read it, and when.
 *
 * Every core has a time of its own, which goes on at barriers and messages, and knows of every other core up to which
 * of its times that one has come. An access is ordered after another one if its core knows of that time.
 * Commands move whole words of four bytes. A put that finds in memory the very bytes it brings (it wrote back more than
 * it changed) is harmless beside reads, but not beside another core's writes: what it brings may be out of date.
 */
#include <stdlib.h>
#include <string.h>
#include "sw_internal.h"

enum { WORD = 4, PAGE = 1024, BUCKETS = 1 << 16, SEVERAL = 64, SITES = 1 << 12, LOGGED = 4096 }; /* PAGE: words */

typedef struct page {
  uintptr_t number;
  struct page *next;
  /* time << 7 | core; core SEVERAL: several, and the number of an epoch. keeper: wrote no change */
  uint32_t writer[PAGE], keeper[PAGE], reader[PAGE];
  uint32_t stored[PAGE]; /* directly: number of the fence before << 7 | core, plus one */
  uint32_t put[PAGE];    /* the same of commands, for the data cache, which does not see them */
  uint16_t site[PAGE];   /* where it was last written */
  uint8_t holder[PAGE];  /* the core, plus one, that keeps this word in its local memory across barriers */
} page;

static page *buckets[BUCKETS];
static struct { const char *file; int line; } sites[SITES];
static int nsites = 1;
static uint32_t start[CORES]; /* times at which this epoch began */
static struct { const char *mem; long len; int write; } logged[LOGGED];
static int nlogged;

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

/* -- times ------------------------------------------------------------------------------------------------------- */

void sw_learn(sw_core *me, const uint32_t *know)
{
  for (int k = 0; k < CORES; k++)
    if (know[k] > me->know[k])
      me->know[k] = know[k];
}

/* Cores have waited for each other: each knows what any of them knew, and goes on to its next time. */
void sw_meet(uint64_t group)
{
  sw_core all = { .live = 0 };
  for (int k = 0; k < sw_threads; k++)
    if (group >> k & 1)
      sw_learn(&all, sw_cores[k].know);
  for (int k = 0; k < sw_threads; k++)
    if (group >> k & 1) {
      memcpy(sw_cores[k].know, all.know, sizeof all.know);
      sw_cores[k].know[k]++;
    }
}

/* An epoch ends when every core knows that every other one has come to a barrier in it. */
void sw_passed(void)
{
  for (int c = 0; c < sw_threads; c++)
    for (int k = 0; k < sw_threads; k++)
      if (sw_cores[k].live && sw_cores[c].live && sw_cores[c].know[k] < start[k])
        return;
  sw_epoch++;
  for (int k = 0; k < sw_threads; k++)
    start[k] = sw_cores[k].know[k];
  for (int k = 0; !sw_model && k < sw_threads; k++)
    for (int n = 0; n < sw_cores[k].npending; n++) { /* what is on its way counts on both sides of a barrier */
      sw_current = k;
      sw_touch_again(&sw_cores[k].pending[n]);
    }
}

void sw_spawned(void)
{
  sw_meet(~0ull);
  sw_epoch++;
  nlogged = 0;
  for (int k = 0; k < CORES; k++)
    start[k] = sw_cores[k].know[k];
}

/* -- words --------------------------------------------------------------------------------------------------------- */

/* The core other than this one whose access this one knows nothing of, plus one. */
static int other(uint32_t mark)
{
  const int core = (int)(mark & 127);
  if (!mark || core == sw_current)
    return 0;
  if (core == SEVERAL)
    return mark >> 7 == (uint32_t)sw_epoch ? SEVERAL : 0;
  return sw_cores[sw_current].know[core] < mark >> 7 ? core + 1 : 0;
}

static void mark(uint32_t *place)
{
  *place = other(*place) ? (uint32_t)sw_epoch << 7 | SEVERAL : sw_cores[sw_current].know[sw_current] << 7 | (uint32_t)sw_current;
}

static int touch(page *p, uintptr_t at, int write, int change)
{
  const int writer = other(p->writer[at]), keeper = other(p->keeper[at]), reader = other(p->reader[at]);
  mark(write ? change ? &p->writer[at] : &p->keeper[at] : &p->reader[at]);
  return writer ? writer : write && change ? keeper ? keeper : reader : 0;
}

static uint16_t site(const char *file, int line)
{
  for (int k = nsites - 1; k > 0; k--)
    if (sites[k].line == line && sites[k].file == file)
      return (uint16_t)k;
  if (nsites == SITES)
    return SITES - 1;
  sites[nsites].file = file;
  sites[nsites].line = line;
  return (uint16_t)nsites++;
}

static uint32_t fence_of(const sw_core *me) { return (me->fences << 7 | (uint32_t)sw_current) + 1; }

static void one_word(page *p, uintptr_t at, int write, int change, const char *file, int line, const char *name)
{
  if (p->holder[at] && p->holder[at] != sw_current + 1)
    sw_fail("kept", file, line, "%s of %s touches bytes that core %d keeps in its local memory",
            write ? "a write" : "a read", name, p->holder[at] - 1);
  const int core = touch(p, at, write, change);
  if (core == SEVERAL)
    sw_fail("race", file, line, "a write of %s and accesses of several cores touch the same bytes without a barrier between",
            name);
  if (core)
    sw_fail("race", file, line, "%s of %s and an access of core %d touch the same bytes without a barrier between",
            write ? "a write" : "a read", name, core - 1);
}

void sw_touch(int write, const char *mem, const char *ldm, long len, long stride, long bsize, const char *file,
              int line, const char *name)
{
  const sw_core *const me = &sw_cores[sw_current];
  const uint16_t here = write ? site(file, line) : 0;
  if (!sw_races)
    return;
  for (long done = 0; done < len; done += bsize, mem += bsize + stride)
    for (long k = 0; k < bsize;) {
      const uintptr_t word = ((uintptr_t)mem + (uintptr_t)k) / WORD;
      page *const p = find(word / PAGE);
      for (uintptr_t at = word % PAGE; at < PAGE && k < bsize; at++, k += WORD) {
        if (p->stored[at] == fence_of(me))
          sw_fail("memb", file, line, "a transfer of %s touches what this core has stored directly, without %s between",
                  name, sw_cache ? "flush_slave_cache and memb" : "memb");
        one_word(p, at, write, write && memcmp(mem + k, ldm + done + k, WORD), file, line, name);
        p->site[at] = write ? here : p->site[at];
        p->put[at] = write ? fence_of(me) : p->put[at];
      }
    }
}

/* A load or store that goes to main memory by itself. */
void sw_direct(int write, const char *mem, long len)
{
  sw_core *const me = &sw_cores[sw_current];
  const char *const file = me->file ? me->file : "athread";
  if (!sw_races || len < WORD) /* marks are for words: cores may use different bytes of one */
    return;
  for (uintptr_t word = (uintptr_t)mem / WORD; word <= ((uintptr_t)mem + (uintptr_t)len - 1) / WORD; word++) {
    page *const p = find(word / PAGE);
    const uintptr_t at = word % PAGE;
    one_word(p, at, write, write, file, me->line, write ? "a direct store" : "a direct load");
    if (!write && sw_cache && p->put[at] == fence_of(me))
      sw_fail("memb", file, me->line, "after this, a load may find in the data cache what was there before a put of this core, "
              "without flush_slave_cache and memb between");
    if (write) {
      p->stored[at] = fence_of(me);
      p->site[at] = site(file, me->line);
      me->unfenced = 1;
      me->flushed = 0;
    }
  }
}

void sw_fence(void)
{
  sw_core *const me = &sw_cores[sw_current];
  if (sw_cache && !me->flushed)
    return; /* what it waits for has not left the data cache */
  me->fences++;
  me->unfenced = me->flushed = 0;
}

void flush_slave_cache(void) { sw_cores[sw_current].flushed = 1; }

/* -- the management core ------------------------------------------------------------------------------------------- */

void sw_by_master(int write, const char *mem, long len)
{
  if (nlogged < LOGGED && sw_races) {
    logged[nlogged].mem = mem;
    logged[nlogged].len = len;
    logged[nlogged++].write = write;
  }
}

/* What it touched between the launch and the join must be nothing that a core of the launch writes, or reads if it wrote. */
void sw_joined(void)
{
  for (int n = 0; n < nlogged; n++) {
    const uintptr_t first = (uintptr_t)logged[n].mem, past = first + (uintptr_t)logged[n].len;
    for (uintptr_t word = first / WORD; word <= (past - 1) / WORD; word++) {
      const page *const p = find(word / PAGE);
      const uint32_t w = p->writer[word % PAGE], r = p->reader[word % PAGE];
      const int wrote = w && (w & 127) < SEVERAL && w >> 7 >= start[w & 127];
      const int read = r && ((r & 127) == SEVERAL ? r >> 7 == (uint32_t)sw_epoch : r >> 7 >= start[r & 127]);
      if (wrote || (read && logged[n].write))
        sw_fail("race", "athread", 0, "the management core touches %p, which cores use, before athread_join",
                (const void *)(word * WORD));
    }
  }
  nlogged = 0;
}

void sw_expect(const char *name, const void *got, const void *want, long bytes)
{
  for (long k = 0; k < bytes; k += WORD) {
    const uintptr_t word = ((uintptr_t)got + (uintptr_t)k) / WORD;
    if (!memcmp((const char *)got + k, (const char *)want + k, bytes - k < WORD ? (size_t)(bytes - k) : WORD))
      continue;
    const page *const p = find(word / PAGE);
    const int at = p->site[word % PAGE];
    if (!at)
      sw_fail("not-written", "athread", 0, "byte %ld of %s should have another value, and no core has written there", k, name);
    sw_fail("wrong-value", sites[at].file, sites[at].line, "what was written here is not what byte %ld of %s should be", k,
            name);
  }
}

/* -- what stays in local memory -------------------------------------------------------------------------------------- */

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
