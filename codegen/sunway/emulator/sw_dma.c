/* DMA: commands are checked when issued and carried out when waited for, so that code that does not wait sees poison. */
#include <string.h>
#include "slave.h"
#include "sw_internal.h"

uint64_t sw_digest(const char *p, long n)
{
  uint64_t h = 0xcbf29ce484222325u;
  for (long k = 0; k < n; k += 4) { /* commands move whole words */
    uint32_t word;
    memcpy(&word, p + k, sizeof word);
    h = (h ^ word) * 0x100000001b3u;
  }
  return h;
}

static void check(const sw_command *c, const void *reply, dma_mode mode)
{
  if (mode != PE_MODE && mode != BCAST_MODE)
    sw_fail("mode", c->file, c->line, "only PE_MODE and BCAST_MODE are emulated");
  if (c->len <= 0)
    sw_fail("length", c->file, c->line, "a command of %ld bytes for %s", c->len, c->name);
  if (c->len % 4 || c->stride % 4 || c->bsize % 4 || (uintptr_t)c->mem % 4 || (uintptr_t)c->ldm % 4)
    sw_fail("alignment", c->file, c->line, "addresses and sizes of %s must be multiples of 4 bytes", c->name);
  if (c->stride < 0 || c->bsize < 0 || (c->bsize && (c->bsize > c->len || c->len % c->bsize)) ||
      (c->stride && !c->bsize))
    sw_fail("stride", c->file, c->line,
            "length %ld is no multiple of block size %ld (gap %ld) for %s: the gap comes before the block size", c->len,
            c->bsize, c->stride, c->name);
  const long block = c->bsize ? c->bsize : c->len;
  sw_check_memory(c->mem, c->len + (c->len / block - 1) * c->stride, c->name, c->file, c->line);
  if ((uintptr_t)reply % 4)
    sw_fail("alignment", c->file, c->line, "the reply word of %s is not aligned", c->name);
  sw_check_ldm(reply, 4, "the reply word", c->file, c->line);
}

/* A reply word counts what has arrived. While something is on its way to it, it holds more than any count. */
void sw_flies(volatile int *reply, const char *name, const char *file, int line)
{
  if (*reply < 0 || *reply % FLIGHT > PENDING)
    sw_fail("reply-not-reset", file, line, "the reply word of %s was never set", name);
  *reply += FLIGHT;
}

/* So many have arrived, and are about to be counted. */
void sw_landed(volatile int *reply, int count, const char *name, const char *file, int line)
{
  if (*reply < count * FLIGHT)
    sw_fail("reply-reset", file, line, "%s was set while %d transfers were on their way to it", name, count);
  *reply -= count * FLIGHT;
}

/* A core uses some of its local memory by itself: nothing may be on its way there. */
void sw_in_flight(sw_core *me, int write, const char *p, long bytes)
{
  const char *const file = me->file ? me->file : "athread";
  for (int k = 0; k < me->npending; k++) {
    const sw_command *const c = &me->pending[k];
    if (p + bytes <= c->ldm || c->ldm + c->len <= p || (c->put && !write))
      continue;
    if (c->put)
      sw_fail("stale-put", file, me->line, "after this, %s is changed before its put of line %d was waited for", c->name,
              c->line);
    sw_fail("in-flight", file, me->line, "after this, %s is used before its get of line %d was waited for", c->name, c->line);
  }
  for (int k = 0; k < me->narrivals; k++) {
    const sw_message *const m = me->arrivals[k].what;
    if (p < me->arrivals[k].dst + m->len && me->arrivals[k].dst < p + bytes)
      sw_fail("in-flight", file, me->line, "after this, %s is used before what core %d sends in line %d was waited for",
              m->name, m->from, m->line);
  }
  for (int k = 0; write && k < me->nsending; k++) {
    const sw_message *const m = me->sending[k];
    if (p < m->src + m->len && m->src < p + bytes)
      sw_fail("stale-source", file, me->line, "after this, what line %d sends is changed before its sending was waited for",
              m->line);
  }
}

static void overlaps(const sw_core *me, const sw_command *c)
{
  for (int k = 0; k < me->narrivals; k++)
    if (c->ldm < me->arrivals[k].dst + me->arrivals[k].what->len && me->arrivals[k].dst < c->ldm + c->len)
      sw_fail("in-flight", c->file, c->line, "%s overlaps %s of line %d, which was not waited for", c->name,
              me->arrivals[k].what->name, me->arrivals[k].what->line);
  for (int k = 0; !c->put && k < me->nsending; k++)
    if (c->ldm < me->sending[k]->src + me->sending[k]->len && me->sending[k]->src < c->ldm + c->len)
      sw_fail("stale-source", c->file, c->line, "%s is filled before the sending of line %d was waited for", c->name, me->sending[k]->line);
  for (int k = 0; k < me->npending; k++) {
    const sw_command *const o = &me->pending[k];
    const int apart = o->ldm + o->len <= c->ldm || c->ldm + c->len <= o->ldm;
    if (!apart && !(o->put && c->put))
      sw_fail("in-flight", c->file, c->line, "%s overlaps %s of line %d, whose transfer was not waited for", c->name,
              o->name, o->line);
  }
}

/* Main memory and local memory of a command, block by block. */
static void copy(const sw_command *c)
{
  const long block = c->bsize ? c->bsize : c->len;
  char *mem = c->mem;
  for (long at = 0; at < c->len; at += block, mem += block + c->stride)
    if (c->put)
      memcpy(mem, c->ldm + at, (size_t)block);
    else
      memcpy(c->ldm + at, mem, (size_t)block);
}

/* A broadcast arrives at the same place of every core's local memory, and adds to the reply word at the same place. */
static void spread(const sw_core *me, const sw_command *c, int mask)
{
  for (int k = 0; k < sw_threads; k++) {
    sw_core *const to = &sw_cores[k];
    sw_command mine = *c;
    if (!(mask >> k / SIDE & 1))
      continue;
    if (!to->live || !to->begun)
      sw_fail("not-started", c->file, c->line, "core %d may not have begun when %s comes: no barrier lies ahead of it", k, c->name);
    mine.ldm = to->top - (me->top - c->ldm);
    mine.reply = (volatile int *)(to->top - (me->top - (const char *)c->reply));
    if (!sw_model && *mine.reply != 0)
      sw_fail("broadcast", c->file, c->line, "core %d does not expect %s: its reply word is not zero", k, c->name);
    if (to->npending == PENDING)
      sw_fail("too-many", c->file, c->line, "%d commands in flight", PENDING);
    overlaps(to, &mine);
    sw_may_fill(to, mine.ldm, mine.len, c->name, c->file, c->line);
    if (!sw_model)
      sw_poison(mine.ldm, mine.len);
    sw_flies(mine.reply, c->name, c->file, c->line);
    to->pending[to->npending++] = mine;
  }
}

static void issue(sw_command c, dma_mode mode, void *reply, int mask)
{
  sw_core *const me = &sw_cores[sw_current];
  sw_called(c.file, c.line);
  c.reply = reply;
  sw_check_ldm(c.ldm, c.len > 0 ? c.len : 0, c.name, c.file, c.line);
  check(&c, reply, mode);
  overlaps(me, &c);
  if (me->npending == PENDING)
    sw_fail("too-many", c.file, c.line, "%d commands in flight", PENDING);
  sw_turn();
  const long block = c.bsize ? c.bsize : c.len;
  c.done = sw_served(me, &c);
  sw_event(c.put ? "put" : "get", me->clock, c.done, c.len);
  me->clock += sw_now->issue;
  if (!sw_model) {
    if (c.put && sw_undefined(c.ldm, c.len) >= 0)
      sw_fail("undefined", c.file, c.line, "byte %ld of what is put from %s was never set, or comes from what was not",
              sw_undefined(c.ldm, c.len), c.name);
    if (c.put)
      c.digest = sw_digest(c.ldm, c.len);
    else
      sw_poison(c.ldm, c.len);
    sw_touch(c.put, c.mem, c.ldm, c.len, c.stride, block, c.file, c.line, c.name);
  }
  *(c.put ? &sw_totals.puts : &sw_totals.gets) += 1;
  *(c.put ? &sw_totals.put_bytes : &sw_totals.get_bytes) += c.len;
  sw_totals.rows += c.len / block;
  if (mode == BCAST_MODE)
    spread(me, &c, mask);
  else {
    sw_flies(c.reply, c.name, c.file, c.line);
    me->pending[me->npending++] = c;
  }
}

int sw_get(dma_mode mode, void *src, void *dst, long len, void *reply, char mask, long stride, long bsize,
           const char *name, const char *file, int line)
{
  issue((sw_command){ .mem = src, .ldm = dst, .len = len, .stride = stride, .bsize = bsize, .name = name,
                      .file = file, .line = line }, mode, reply, mask);
  return 0;
}

int sw_put(dma_mode mode, void *src, void *dst, long len, void *reply, long stride, long bsize, const char *name,
           const char *file, int line)
{
  if (mode != PE_MODE)
    sw_fail("mode", file, line, "a put has no broadcast modes");
  issue((sw_command){ .put = 1, .mem = dst, .ldm = src, .len = len, .stride = stride, .bsize = bsize, .name = name,
                      .file = file, .line = line }, mode, reply, 0);
  return 0;
}

void sw_touch_again(const sw_command *c)
{
  sw_touch(c->put, c->mem, c->ldm, c->len, c->stride, c->bsize ? c->bsize : c->len, c->file, c->line, c->name);
}

static void finish(sw_core *me, const sw_command *c)
{
  if (!sw_model) {
    if (c->put && sw_digest(c->ldm, c->len) != c->digest)
      sw_fail("stale-put", c->file, c->line, "%s was changed before its put was waited for", c->name);
    copy(c);
    if (!c->put)
      sw_use(me, c->ldm, c->len);
  }
  ++*c->reply;
  if (c->done > me->clock) {
    sw_event("wait", me->clock, c->done, 0);
    me->clock = c->done;
  }
}

void sw_wait(volatile int *reply, int count, const char *name, const char *file, int line)
{
  sw_core *const me = &sw_cores[sw_current];
  int mine = 0, kept = 0;
  sw_called(file, line);
  for (int k = 0; k < me->npending; k++)
    mine += me->pending[k].reply == reply;
  sw_landed(reply, mine, name, file, line);
  if (mine && *reply == count)
    sw_fail("reply-not-reset", file, line, "the wait for %s falls through: it holds %d before anything has arrived",
            name, count);
  for (int k = 0; k < me->npending; k++) {
    if (me->pending[k].reply == reply)
      finish(me, &me->pending[k]);
    else
      me->pending[kept++] = me->pending[k];
  }
  me->npending = kept;
  if (*reply != count)
    sw_fail("reply-count", file, line, "the wait for %s never ends: it is %d and should become %d", name, *reply,
            count);
  sw_turn();
}

void sw_drain(sw_core *c)
{
  if (c->npending)
    sw_fail("missing-wait", c->pending[0].file, c->pending[0].line, "the %s of %s is never waited for",
            c->pending[0].put ? "put" : "get", c->pending[0].name);
  if (c->narrivals)
    sw_fail("missing-wait", c->arrivals[0].what->file, c->arrivals[0].what->line, "nobody waits for %s, which core %d sends",
            c->arrivals[0].what->name, c->arrivals[0].what->from);
  if (c->nsending)
    sw_fail("missing-wait", c->sending[0]->file, c->sending[0]->line, "nobody waits until %s is sent", c->sending[0]->name);
}
