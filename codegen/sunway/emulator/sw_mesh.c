/* Messages between cores: register communication (SW26010) and broadcasts between local memories (SW26010-Pro). */
#include <stdlib.h>
#include <string.h>
#include "slave.h"
#include "sw_internal.h"

static int at(int row, int column) { return row * SIDE + column; }

static void send_one(int row, sw_core *to, const void *v, const char *file, int line)
{
  sw_queue *const q = row ? &to->rows : &to->columns;
  if (!to->live)
    sw_fail("mesh", file, line, "a message to core %d, which does not run", (int)(to - sw_cores));
  while (q->count == QUEUE)
    sw_block(2);
  const int slot = (q->head + q->count++) % QUEUE;
  memcpy(q->data[slot], v, 32);
  memcpy(q->know[slot], sw_cores[sw_current].know, sizeof q->know[slot]);
  q->when[slot] = sw_cores[sw_current].clock + sw_now->mesh_start;
  if (to->waiting == 2)
    to->waiting = 0;
}

static sw_core *neighbour(int row, int k)
{
  return &sw_cores[row ? at(sw_current / SIDE, k) : at(k, sw_current % SIDE)];
}

static void send(int row, const void *v, int dst, const char *file, int line)
{
  const int me = row ? sw_current % SIDE : sw_current / SIDE;
  sw_called(file, line);
  if (dst < 0 || dst > SIDE || dst == me)
    sw_fail("mesh", file, line, "a message to core %d of the %s, which is none of the others", dst, row ? "row" : "column");
  sw_turn();
  sw_cores[sw_current].clock += 1;
  for (int k = 0; k < SIDE; k++)
    if (k != me && (dst == SIDE || dst == k))
      send_one(row, neighbour(row, k), v, file, line);
  sw_cores[sw_current].know[sw_current]++;
  sw_totals.mesh_messages++;
  sw_totals.mesh_bytes += 32;
}

static void take(int row, void *v, const char *file, int line)
{
  sw_core *const me = &sw_cores[sw_current];
  sw_called(file, line);
  sw_queue *const q = row ? &me->rows : &me->columns;
  while (!q->count)
    sw_block(2);
  memcpy(v, q->data[q->head], 32);
  sw_learn(me, q->know[q->head]);
  if (q->when[q->head] > me->clock)
    me->clock = q->when[q->head];
  me->clock += 1;
  q->head = (q->head + 1) % QUEUE;
  q->count--;
  /* A sender may have waited for the room. */
  for (int k = 0; k < SIDE; k++)
    if (neighbour(row, k)->waiting == 2)
      neighbour(row, k)->waiting = 0;
}

void sw_put_row(const void *v, int dst, const char *file, int line) { send(1, v, dst, file, line); }
void sw_put_column(const void *v, int dst, const char *file, int line) { send(0, v, dst, file, line); }

void sw_get_row(void *v, const char *file, int line) { take(1, v, file, line); }
void sw_get_column(void *v, const char *file, int line) { take(0, v, file, line); }

/* The same array and reply words stand at the same place of every core's local memory. */
static char *other(const sw_core *from, const sw_core *to, void *p) { return to->top - (from->top - (char *)p); }

/* A broadcast is on its way to one of its receivers. */
static void approach(sw_message *m, sw_core *to, char *dst, volatile int *reply)
{
  if (!to->live || !to->begun)
    sw_fail("not-started", m->file, m->line, "core %d may not have begun when %s comes: no barrier lies ahead of it",
            (int)(to - sw_cores), m->name);
  if (to->narrivals == ARRIVALS)
    sw_fail("mesh", m->file, m->line, "%d broadcasts that nobody waits for", ARRIVALS);
  if (!sw_model) {
    for (int k = 0; k < to->narrivals; k++)
      if (dst < to->arrivals[k].dst + to->arrivals[k].what->len && to->arrivals[k].dst < dst + m->len)
        sw_fail("in-flight", m->file, m->line, "%s comes over what line %d sends", m->name, to->arrivals[k].what->line);
    for (int k = 0; k < to->nsending; k++)
      if (dst < to->sending[k]->src + to->sending[k]->len && to->sending[k]->src < dst + m->len)
        sw_fail("stale-source", m->file, m->line, "%s comes over what core %d sends in line %d and has not waited for",
                m->name, (int)(to - sw_cores), to->sending[k]->line);
    for (int k = 0; k < to->npending; k++)
      if (dst < to->pending[k].ldm + to->pending[k].len && to->pending[k].ldm < dst + m->len)
        sw_fail("in-flight", m->file, m->line, "%s comes over %s of line %d, whose transfer was not waited for", m->name,
                to->pending[k].name, to->pending[k].line);
    sw_may_fill(to, dst, m->len, m->name, m->file, m->line);
    if (to - sw_cores != m->from || dst + m->len <= m->src || m->src + m->len <= dst)
      sw_poison(dst, m->len);
  }
  sw_flies(reply, m->name, m->file, m->line);
  to->arrivals[to->narrivals].what = m;
  to->arrivals[to->narrivals].dst = dst;
  to->arrivals[to->narrivals++].reply = reply;
  if (to->waiting == 2)
    to->waiting = 0;
}

void sw_rma(int row, void *dst, void *src, long len, void *sent, void *received, const char *name, const char *file,
            int line)
{
  sw_core *const me = &sw_cores[sw_current];
  sw_called(file, line);
  if (len <= 0 || len % 4)
    sw_fail("length", file, line, "a broadcast of %ld bytes for %s", len, name);
  sw_check_ldm(src, len, "what is sent", file, line);
  sw_check_ldm(dst, len, name, file, line);
  sw_check_ldm(received, 4, "the reply word", file, line);
  if (sent)
    sw_check_ldm(sent, 4, "the reply word", file, line);
  sw_turn();
  me->clock += 20;
  sw_message *const m = malloc(sizeof *m);
  *m = (sw_message){ .src = src, .name = name, .file = file, .line = line, .len = len, .from = sw_current,
                     .left = SIDE + !!sent, .sent = sent,
                     .done = me->clock + sw_now->mesh_start + (double)len / sw_now->mesh_rate };
  memcpy(m->know, me->know, sizeof m->know);
  if (!sw_model) {
    for (int k = 0; k < me->npending; k++)
      if (!me->pending[k].put && m->src < me->pending[k].ldm + me->pending[k].len && me->pending[k].ldm < m->src + len)
        sw_fail("in-flight", file, line, "what is sent overlaps %s of line %d, whose get was not waited for",
                me->pending[k].name, me->pending[k].line);
    m->digest = sw_digest(src, len);
  }
  for (int k = 0; k < SIDE; k++) {
    const int id = row ? at(sw_current / SIDE, k) : at(k, sw_current % SIDE);
    if (id >= sw_threads)
      sw_fail("mesh", file, line, "a broadcast to core %d, which does not run", id);
    approach(m, &sw_cores[id], other(me, &sw_cores[id], dst), (volatile int *)other(me, &sw_cores[id], received));
  }
  if (sent) {
    sw_flies(sent, name, file, line);
    if (me->nsending == ARRIVALS)
      sw_fail("mesh", file, line, "%d broadcasts of one core that are not waited for", ARRIVALS);
    me->sending[me->nsending++] = m;
  }
  me->know[sw_current]++;
  sw_totals.mesh_messages++;
  sw_totals.mesh_bytes += len;
}

static void check_source(const sw_message *m)
{
  if (!sw_model && sw_digest(m->src, m->len) != m->digest)
    sw_fail("stale-source", m->file, m->line, "what is sent to %s was changed before it was sent", m->name);
}

/* What is sent is read when it is first needed: until then its source must not change. */
static void capture(sw_message *m)
{
  if (m->data || sw_model)
    return;
  check_source(m);
  m->data = malloc((size_t)m->len);
  memcpy(m->data, m->src, (size_t)m->len);
}

static void done_with(sw_message *m)
{
  if (--m->left)
    return;
  free(m->data);
  free(m);
}

/* Everything that is on its way to this word arrives. Returns how much. */
static int arrive(sw_core *me, volatile int *reply)
{
  int kept = 0, came = 0;
  for (int k = 0; k < me->narrivals; k++) {
    sw_message *const m = me->arrivals[k].what;
    if (me->arrivals[k].reply != reply) {
      me->arrivals[kept++] = me->arrivals[k];
      continue;
    }
    capture(m);
    if (!sw_model) {
      memcpy(me->arrivals[k].dst, m->data, (size_t)m->len);
      sw_use(me, me->arrivals[k].dst, m->len);
    }
    sw_learn(me, m->know);
    me->clock = m->done > me->clock ? m->done : me->clock;
    came++;
    done_with(m);
  }
  me->narrivals = kept;
  return came;
}

static int depart(sw_core *me, volatile int *reply)
{
  int kept = 0, gone = 0;
  for (int k = 0; k < me->nsending; k++) {
    sw_message *const m = me->sending[k];
    if (m->sent != reply) {
      me->sending[kept++] = m;
      continue;
    }
    check_source(m); /* not before the sender has waited, either: one has received it, and others may not have */
    capture(m);
    me->clock = m->done > me->clock ? m->done : me->clock;
    gone++;
    done_with(m);
  }
  me->nsending = kept;
  return gone;
}

void sw_rma_wait(volatile int *reply, int count, const char *name, const char *file, int line)
{
  sw_core *const me = &sw_cores[sw_current];
  sw_called(file, line);
  sw_turn();
  for (;;) {
    const int came = arrive(me, reply) + depart(me, reply);
    sw_landed(reply, came, name, file, line);
    if (came && *reply == count)
      sw_fail("reply-not-reset", file, line, "the wait for %s falls through: it holds %d before anything has arrived",
              name, count);
    *reply += came;
    if (*reply >= count)
      break;
    sw_block(2);
  }
  if (*reply != count)
    sw_fail("reply-count", file, line, "the wait for %s never ends: it is %d and should become %d", name, *reply,
            count);
}
