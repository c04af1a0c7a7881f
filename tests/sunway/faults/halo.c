/* A stencil in two steps over main memory: halos, barriers, and transfers across them. */
#include "faults.h"

enum { PART = N * N / 64 };

static void meet(int id)
{
  memb();
  if (is("full barrier of 16"))
    athread_syn(ARRAY_SCOPE, 0xffff);
  else if (is("a mask without this core"))
    athread_syn(ROW_SCOPE, 1 << (id + 1) % 8);
  else if (is("a mask that is none"))
    athread_syn(ARRAY_SCOPE, 0x00ff);
  else if (is("different masks"))
    athread_syn(ROW_SCOPE, id % 8 == 2 ? 0x0f : 0xff);
  else if (is("rows only"))
    athread_syn(ROW_SCOPE, 0xff);
  else if (is("columns only"))
    athread_syn(COL_SCOPE, 0xff);
  else if (is("rows and columns")) {
    athread_syn(ROW_SCOPE, 0xff);
    athread_syn(COL_SCOPE, 0xff);
  } else
    athread_syn(ARRAY_SCOPE, 0xffff);
}

/* One step: to[k] = from[k - 1] + from[k] + from[k + 1] inside of `edge`. */
static void step(double *from, double *to, int id, int edge)
{
  double x[PART + 2], y[PART];
  volatile int r = 0;
  const int low = id * PART, first = low == 0, last = low + PART == N * N;
  const int few = is("halo too small") && id == 5;
  athread_get(PE_MODE, from + low - !first, x + first, (PART + !first + !last - few) * 8, &r, 0, 0, 0);
  dma_wait(&r, 1);
  for (int k = 0; k < PART + (is("halo that is not there") && id == 5); k++) {
    const int at = low + k, inside = at >= edge && at < N * N - edge;
    y[k % PART] = inside ? x[k] + x[k + 1] + x[k + 2] : 0;
  }
  r = 0;
  athread_put(PE_MODE, y, to + low, PART * 8, &r, 0, 0);
  if (is("goes on behind the barrier"))
    meet(id);
  dma_wait(&r, 1);
}

void halo(args *p)
{
  const int id = athread_get_id(-1);
  step(p->a, is("in place") ? p->a : p->c, id, 1);
  if (is("a core does not come") && id == 3)
    return;
  if (!is("no barrier") && !is("goes on behind the barrier"))
    meet(id);
  step(p->c, p->b, id, 2);
}
