/* What cores tell each other: a table for all, vectors along rows and columns, slices between local memories. */
#include "faults.h"

static void meet(void)
{
  memb();
  athread_syn(ARRAY_SCOPE, 0xffff);
}

/* One core fetches a table for all of them, twice. */
void table(args *p)
{
  enum { PART = N * N / 64 };
  double w[8], x[PART];
  volatile int come = 0, r;
  const int id = athread_get_id(-1);
  if (id == 0)
    for (int k = 0; k < 8; k++)
      p->c[k] = k + 1;
  memb();
  for (int turn = 0; turn < 2; turn++) {
    double *const a = p->a + id * PART + turn * (PART / 2), *const b = p->b + id * PART + turn * (PART / 2);
    if (!is("reply set behind the barrier"))
      come = 0;
    if (is("reply is not zero"))
      come = 1;
    if (!is("no barrier ahead") && !(turn && is("no barrier between tables")))
      meet();
    if (id == 0)
      athread_get(BCAST_MODE, p->c, w, 64, (void *)&come, is("mask of nobody") ? 0 : is("mask of some") ? 0x0f : (char)0xff, 0, 0);
    if (is("reply set behind the barrier")) {
      meet();
      come = 0;
    }
    r = 0;
    athread_get(PE_MODE, a, x, PART / 2 * 8, &r, 0, 0, 0);
    dma_wait(&r, 1);
    if (!is("table not waited for"))
      dma_wait(&come, 1);
    for (int k = 0; k < PART / 2; k++)
      x[k] *= w[(a - p->a + k) % 8];
    r = 0;
    athread_put(PE_MODE, x, b, PART / 2 * 8, &r, 0, 0);
    dma_wait(&r, 1);
  }
}

/* The first core of a row and of a column hands a vector to the others. */
void along(args *p)
{
  double x[4] __attribute__((aligned(32)));
  volatile int r = 0;
  const int id = athread_get_id(-1), row = id / 8, column = id % 8;
  doublev4 left, down;
  athread_get(PE_MODE, p->a + id * 4, x, 32, &r, 0, 0, 0);
  dma_wait(&r, 1);
  simd_load(left, x);
  simd_load(down, x);
  if (column == (is("wrong sender") ? 1 : 0)) {
    if (is("to itself"))
      simd_putr(left, column);
    if (!is("nobody sends"))
      simd_putr(left, 8);
    if (is("sent twice"))
      simd_putr(left, 8);
  } else if (!(is("not taken") && column == 5))
    left = simd_getr(left);
  if (is("a core has gone") && id == 9)
    return;
  if (is("a core has gone"))
    meet();
  if (row == 0)
    simd_putc(down, is("to no core") ? 9 : 8);
  else
    down = is("taken along the row") ? simd_getr(down) : simd_getc(down);
  left = left + down;
  simd_store(left, x);
  r = 0;
  athread_put(PE_MODE, x, p->b + id * 4, 32, &r, 0, 0);
  dma_wait(&r, 1);
}

/* In two turns the core of a row, and of a column, with its number sends what it has to the others. */
void slices(args *p)
{
  double own[32] __attribute__((aligned(64))), in[2][32], y[32];
  volatile int sent[2] = { 1, 1 }, here[2], r;
  const int id = athread_get_id(-1), row = id / 8, column = id % 8;
  if (is("column of 16"))
    meet();
  for (int k = 0; k < 32; k++)
    y[k] = 0;
  for (int turn = 0; turn < 2; turn++) {
    athread_rma_wait_value(&sent[0], 1);
    athread_rma_wait_value(&sent[1], 1);
    r = 0;
    athread_get(PE_MODE, p->a + id * 32, own, 256, &r, 0, 0, 0);
    if (!is("sent before it came"))
      dma_wait(&r, 1);
    here[0] = here[1] = 0;
    if (!(is("no barrier at all") || (turn && is("a barrier the first time only"))))
      meet();
    const int bytes = is("slice too short") ? 128 : 256;
    if (column == 0 || (column == 1 && is("two senders"))) {
      sent[0] = 0;
      athread_rma_row_ibcast(in[0], is("sent from main memory") ? p->a : own, bytes, &sent[0], &here[0]);
    }
    if (row == 0) {
      sent[1] = 0;
      athread_rma_col_ibcast(in[1], own, is("no bytes") ? 0 : bytes, &sent[1], &here[1]);
    }
    if (is("filled while it is sent"))
      athread_get(PE_MODE, p->a + id * 32, own, 256, &r, 0, 0, 0);
    if (is("source changed"))
      own[id % 3] = 1;
    if (is("words set while it comes")) {
      meet();
      here[0] = 0;
    }
    if (!is("one slice not waited for") && !is("slices not waited for"))
      athread_rma_wait_value(&here[0], 1);
    if (!is("slices not waited for"))
      athread_rma_wait_value(&here[1], is("waits for two slices") ? 2 : 1);
    if (is("sent before it came"))
      dma_wait(&r, 1);
    if (is("filled when one has it"))
      athread_get(PE_MODE, p->a + id * 32, own, 256, &r, 0, 0, 0);
    if (is("source changed when one has it"))
      own[id % 3] = 1;
    if (is("sent over a source")) {
      meet();
      here[0] = 0;
      if (column == 1)
        athread_rma_row_ibcast(own, y, bytes, NULL, &here[0]);
      meet();
    }
    for (int k = 0; k < 32; k++)
      y[k] += in[0][k] + in[1][k];
  }
  y[0] += 1;
  if (!is("sending not waited for")) {
    athread_rma_wait_value(&sent[0], 1);
    athread_rma_wait_value(&sent[1], 1);
  }
  r = 0;
  athread_put(PE_MODE, y, p->b + id * 32, 256, &r, 0, 0);
  dma_wait(&r, 1);
}
