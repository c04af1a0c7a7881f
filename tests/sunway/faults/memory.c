/* Main memory without transfers, and local memory that keeps some of it. */
#include "faults.h"

static void meet(void)
{
  if (!is("no memb at the barrier"))
    memb();
  athread_syn(ARRAY_SCOPE, 0xffff);
}

static double fixed[64 * 8];

/* Every core stores eight elements by itself, and fetches them again. */
void directly(args *p)
{
  double x[8];
  volatile int r = 0;
  const int id = athread_get_id(-1), at = 8 * id;
  for (int k = 0; k < 8; k++)
    p->c[at + k] = 2 * p->a[at + k];
  if (is("all store the same"))
    p->c[N * N - 1] = 1;
  if (is("all store something"))
    p->c[N * N - 1] = id;
  if (is("a store behind the array"))
    p->c[N * N + id % 2] = 1;
  if (is("a store ahead of the array"))
    p->c[-1 - id % 2] = 1;
  if (is("a get behind a global array")) {
    athread_get(PE_MODE, fixed + at, x, 8 * 8 + (id == 63) * 8 - 8, &r, 0, 0, 0);
    dma_wait(&r, 1);
    r = 0;
    athread_get(PE_MODE, fixed + at + 4, x, 64, &r, 0, 0, 0);
    dma_wait(&r, 1);
    r = 0;
  }
  if (is("a store behind a global array"))
    fixed[at + 8] = id;
  if (is("a load behind the array"))
    x[0] = p->a[N * N + id % 2];
  if (!is("no memb ahead of a get"))
    memb();
  if (is("local memory of another core")) {
    static double *where;
    if (id == 0)
      where = x;
    meet();
    if (id == 1)
      where[id] = 1;
  }
  if (is("no memb at the barrier"))
    p->c[N * 8 + id] = 1;
  if (!is("loads beside puts") && !is("no memb ahead of a get"))
    meet();
  athread_get(PE_MODE, p->c + at, x, 64, &r, 0, 0, 0);
  dma_wait(&r, 1);
  for (int k = 0; k < 8; k++)
    x[k] += p->a[at + k] + (is("loads beside puts") && id ? p->b[0] : p->a[0]);
  r = 0;
  athread_put(PE_MODE, x, p->b + at, 64, &r, 0, 0);
  dma_wait(&r, 1);
}

/* A tile stays in local memory across a barrier. */
void kept(args *p)
{
  double x[32];
  volatile int r = 0;
  const int id = athread_get_id(-1), other = (id + 1) % 64;
  athread_get(PE_MODE, p->a + id * 32, x, 256, &r, 0, 0, 0);
  dma_wait(&r, 1);
  ldm_hold(p->b + id * 32, 256, 0, 0);
  if (is("kept twice"))
    ldm_hold(p->b + id * 32, 256, 0, 0);
  for (int k = 0; k < 32; k++)
    x[k] *= 2;
  meet();
  if (is("read by another core")) {
    double y[4];
    r = 0;
    athread_get(PE_MODE, p->b + other * 32, y, 32, &r, 0, 0, 0);
    dma_wait(&r, 1);
  }
  if (is("stored by another core"))
    p->b[other * 32] = 1;
  for (int k = 0; k < 32; k++)
    x[k] += 1;
  if (!is("never given back"))
    ldm_release(p->b + (is("another tile given back") ? other : id) * 32, 256, 0, 0);
  if (is("kept tile not returned") && id == 7)
    return;
  r = 0;
  athread_put(PE_MODE, x, p->b + id * 32, 256, &r, 0, 0);
  dma_wait(&r, 1);
}
