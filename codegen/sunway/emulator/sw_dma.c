/* DMA: commands are checked when issued and carried out when waited for, so that code that does not wait sees poison. */
#include <string.h>
#include "slave.h"
#include "sw_internal.h"

static double controller; /* when the memory controller is free again */

static uint64_t digest(const char *p, long n)
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
  if ((uintptr_t)reply % 4)
    sw_fail("alignment", c->file, c->line, "the reply word of %s is not aligned", c->name);
  sw_check_ldm(reply, 4, "the reply word", c->file, c->line);
}

static void overlaps(const sw_core *me, const sw_command *c)
{
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
static void spread(const sw_core *me, const sw_command *c)
{
  for (int k = 0; k < sw_threads; k++) {
    sw_core *const to = &sw_cores[k];
    sw_command mine = *c;
    mine.ldm = to->top - (me->top - c->ldm);
    mine.reply = (volatile int *)(to->top - (me->top - (const char *)c->reply));
    if (!to->live || (!sw_model && *mine.reply != 0))
      sw_fail("broadcast", c->file, c->line, "core %d does not expect %s: its reply word is not zero", k, c->name);
    if (to->npending == PENDING)
      sw_fail("too-many", c->file, c->line, "%d commands in flight", PENDING);
    overlaps(to, &mine);
    if (!sw_model)
      memset(mine.ldm, 0xff, (size_t)mine.len);
    to->pending[to->npending++] = mine;
  }
}

static void issue(sw_command c, dma_mode mode, void *reply)
{
  sw_core *const me = &sw_cores[sw_current];
  c.reply = reply;
  sw_check_ldm(c.ldm, c.len > 0 ? c.len : 0, c.name, c.file, c.line);
  check(&c, reply, mode);
  overlaps(me, &c);
  if (me->npending == PENDING)
    sw_fail("too-many", c.file, c.line, "%d commands in flight", PENDING);
  sw_turn();
  const long block = c.bsize ? c.bsize : c.len;
  const double from = me->clock + sw_now->startup > controller ? me->clock + sw_now->startup : controller;
  c.done = from + sw_now->command + (double)c.len * sw_now->clock_hz / (sw_rate(c.stride ? block : c.len) * 1e6);
  controller = c.done;
  sw_event(c.put ? "put" : "get", me->clock, c.done, c.len);
  me->clock += 20; /* the instructions that set up the command */
  if (!sw_model) {
    if (c.put)
      c.digest = digest(c.ldm, c.len);
    else
      memset(c.ldm, 0xff, (size_t)c.len);
    sw_touch(c.put, c.mem, c.ldm, c.len, c.stride, block, c.file, c.line, c.name);
  }
  *(c.put ? &sw_totals.puts : &sw_totals.gets) += 1;
  *(c.put ? &sw_totals.put_bytes : &sw_totals.get_bytes) += c.len;
  sw_totals.rows += c.len / block;
  if (mode == BCAST_MODE)
    spread(me, &c);
  else
    me->pending[me->npending++] = c;
}

int sw_get(dma_mode mode, void *src, void *dst, long len, void *reply, char mask, long stride, long bsize,
           const char *name, const char *file, int line)
{
  (void)mask;
  issue((sw_command){ .mem = src, .ldm = dst, .len = len, .stride = stride, .bsize = bsize, .name = name,
                      .file = file, .line = line }, mode, reply);
  return 0;
}

int sw_put(dma_mode mode, void *src, void *dst, long len, void *reply, long stride, long bsize, const char *name,
           const char *file, int line)
{
  if (mode != PE_MODE)
    sw_fail("mode", file, line, "a put has no broadcast modes");
  issue((sw_command){ .put = 1, .mem = dst, .ldm = src, .len = len, .stride = stride, .bsize = bsize, .name = name,
                      .file = file, .line = line }, mode, reply);
  return 0;
}

void sw_touch_again(const sw_command *c)
{
  sw_touch(c->put, c->mem, c->ldm, c->len, c->stride, c->bsize ? c->bsize : c->len, c->file, c->line, c->name);
}

static void finish(sw_core *me, const sw_command *c)
{
  if (!sw_model) {
    if (c->put && digest(c->ldm, c->len) != c->digest)
      sw_fail("stale-put", c->file, c->line, "%s was changed before its put was waited for", c->name);
    copy(c);
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
  for (int k = 0; k < me->npending; k++)
    mine += me->pending[k].reply == reply;
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
}
