/* Messages between cores: register communication (SW26010) and broadcasts between local memories (SW26010-Pro). */
#include <string.h>
#include "slave.h"
#include "sw_internal.h"

static int at(int row, int column) { return row * SIDE + column; }

static void send_one(int row, sw_core *to, const void *v, const char *file, int line)
{
  sw_queue *const q = row ? &to->rows : &to->columns;
  if (!to->live)
    sw_fail("mesh", file, line, "a message to a core that does not run");
  while (q->count == QUEUE)
    sw_block(2);
  const int slot = (q->head + q->count++) % QUEUE;
  memcpy(q->data[slot], v, 32);
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
  sw_turn();
  sw_cores[sw_current].clock += 1;
  for (int k = 0; k < SIDE; k++)
    if (k != me && (dst == SIDE || dst == k))
      send_one(row, neighbour(row, k), v, file, line);
  sw_totals.mesh_messages++;
  sw_totals.mesh_bytes += 32;
}

static void take(int row, void *v)
{
  sw_core *const me = &sw_cores[sw_current];
  sw_queue *const q = row ? &me->rows : &me->columns;
  while (!q->count)
    sw_block(2);
  memcpy(v, q->data[q->head], 32);
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

void sw_get_row(void *v, const char *file, int line)
{
  (void)file, (void)line;
  take(1, v);
}

void sw_get_column(void *v, const char *file, int line)
{
  (void)file, (void)line;
  take(0, v);
}

/* The same array and reply words stand at the same place of every core's local memory. */
static char *other(const sw_core *from, const sw_core *to, void *p) { return to->top - (from->top - (char *)p); }

void sw_rma(int row, void *dst, void *src, long len, void *sent, void *received, const char *name, const char *file,
            int line)
{
  sw_core *const me = &sw_cores[sw_current];
  sw_check_ldm(src, len, name, file, line);
  sw_check_ldm(dst, len, name, file, line);
  sw_turn();
  me->clock += 20;
  const double done = me->clock + sw_now->mesh_start + (double)len / sw_now->mesh_rate;
  for (int k = 0; k < SIDE; k++) {
    const int id = row ? at(sw_current / SIDE, k) : at(k, sw_current % SIDE);
    sw_core *const to = &sw_cores[id];
    if (!to->live)
      sw_fail("mesh", file, line, "a broadcast to a core that does not run");
    if (!sw_model)
      memmove(other(me, to, dst), src, (size_t)len);
    volatile int *const reply = (volatile int *)other(me, to, received);
    ++*reply;
    if (to->narrivals == ARRIVALS)
      sw_fail("mesh", file, line, "%d broadcasts that nobody waits for", ARRIVALS);
    to->arrivals[to->narrivals].reply = reply;
    to->arrivals[to->narrivals++].when = done;
    if (to->waiting == 2)
      to->waiting = 0;
  }
  ++*(volatile int *)sent;
  sw_totals.mesh_messages++;
  sw_totals.mesh_bytes += len;
}

void sw_rma_wait(volatile int *reply, int count, const char *name, const char *file, int line)
{
  sw_core *const me = &sw_cores[sw_current];
  sw_turn();
  while (*reply < count)
    sw_block(2);
  if (*reply != count)
    sw_fail("reply-count", file, line, "the wait for %s never ends: it is %d and should become %d", name, *reply,
            count);
  int kept = 0;
  for (int k = 0; k < me->narrivals; k++) {
    if (me->arrivals[k].reply != reply)
      me->arrivals[kept++] = me->arrivals[k];
    else if (me->arrivals[k].when > me->clock)
      me->clock = me->arrivals[k].when;
  }
  me->narrivals = kept;
}
