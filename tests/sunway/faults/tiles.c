/* Tiles of a matrix come, are doubled and go: faults of commands, lengths, reply words and local memory. */
#include "faults.h"

static __attribute__((noinline)) double large(int n)
{
  double room[9000];
  for (int k = 0; k < n; k++)
    room[k] = k;
  return room[n / 2];
}

static __attribute__((noinline)) void fetched(double *a)
{
  double room[9000];
  volatile int r = 0;
  athread_get(PE_MODE, a, room, 64, &r, 0, 0, 0);
  dma_wait(&r, 1);
}

static __attribute__((noinline)) double deep(int n)
{
  double room[64];
  for (int k = 0; k < 64; k++)
    room[k] = k;
  return n > 0 ? deep(n - 1) + room[n % 64] : room[0];
}

static __attribute__((noinline)) void doubled(double *x, int n)
{
  for (int k = 0; k < n; k++)
    x[k] *= is("wrong factor") ? 3 : 2;
}

/* A command with something wrong in it, in place of the get of a tile. */
static void wrong_get(args *p, double *x, double *a, volatile int *r, int n)
{
  const int row = T * 8, gap = (n - T) * 8;
  if (is("length in elements"))
    athread_get(PE_MODE, a, x, T * T, r, 0, gap, row);
  else if (is("one row short"))
    athread_get(PE_MODE, a, x, (T - 1) * row, r, 0, gap, row);
  else if (is("contiguous get too short"))
    athread_get(PE_MODE, a, x, 3 * row / 2, r, 0, 0, 0);
  else if (is("gap given as pitch"))
    athread_get(PE_MODE, a, x, T * row, r, 0, n * 8, row);
  else if (is("gap and block exchanged"))
    athread_get(PE_MODE, a, x, T * row, r, 0, row, gap);
  else if (is("length no multiple of blocks"))
    athread_get(PE_MODE, a, x, T * row - 8, r, 0, gap, row);
  else if (is("gap without blocks"))
    athread_get(PE_MODE, a, x, T * row, r, 0, gap, 0);
  else if (is("negative gap"))
    athread_get(PE_MODE, a, x, T * row, r, 0, -8, row);
  else if (is("no length"))
    athread_get(PE_MODE, a, x, 0, r, 0, 0, 0);
  else if (is("negative length"))
    athread_get(PE_MODE, a, x, -row, r, 0, 0, 0);
  else if (is("odd address"))
    athread_get(PE_MODE, (char *)a + 2, x, row, r, 0, 0, 0);
  else if (is("odd length"))
    athread_get(PE_MODE, a, x, 6, r, 0, 0, 0);
  else if (is("into main memory"))
    athread_get(PE_MODE, a, p->c, row, r, 0, 0, 0);
  else if (is("reply in main memory"))
    athread_get(PE_MODE, a, x, row, p->c, 0, 0, 0);
  else if (is("row mode"))
    athread_get(ROW_MODE, a, x, row, r, 0, 0, 0);
  else if (is("get behind the buffer"))
    athread_get(PE_MODE, a, x, 2 * T * row, r, 0, 0, 0);
  else if (is("get behind the array"))
    athread_get(PE_MODE, p->a + N * N - 8, x, T * row, r, 0, 0, 0);
  else if (is("get ahead of the array"))
    athread_get(PE_MODE, p->a - 1, x, T * row, r, 0, 0, 0);
  else
    athread_get(PE_MODE, a, x, T * row, r, 0, gap, row);
}

static void wrong_put(args *p, double *x, double *b, volatile int *r, int n)
{
  const int row = T * 8, gap = (n - T) * 8;
  if (is("put one row short"))
    athread_put(PE_MODE, x, b, (T - 1) * row, r, gap, row);
  else if (is("put with its gap as pitch"))
    athread_put(PE_MODE, x, b, T * row, r, n * 8, row);
  else if (is("put of a broadcast"))
    athread_put(BCAST_MODE, x, b, T * row, r, gap, row);
  else if (is("put behind the array"))
    athread_put(PE_MODE, x, p->b + N * N - 8, T * row, r, 0, 0);
  else if (is("put to half the column"))
    athread_put(PE_MODE, x, p->b + (b - p->b) / 2 / 4 * 4, T * row, r, gap, row);
  else
    athread_put(PE_MODE, x, b, T * row, r, gap, row);
}

static void around(args *p, double *x, double *y, int id)
{
  volatile int r = 0;
  if (is("overflow with a transfer"))
    fetched(p->a);
  if (is("overflow without a transfer"))
    y[0] = large(p->n);
  if (is("overflow by calls"))
    y[0] = deep(200);
  if (is("overflow of the stack"))
    y[0] = deep(1 << 20);
  if (is("overflow by ldm_malloc"))
    ldm_malloc(64000);
  if (is("freed out of order")) {
    void *one = ldm_malloc(64), *two = ldm_malloc(64);
    ldm_free(one, 64);
    ldm_free(two, 64);
  }
  if (is("index behind the end"))
    y[p->n / 12 * T] = 1;
  if (is("index ahead of the beginning"))
    y[id - id - 1] = 1;
  if (is("no address"))
    y[0] = *(volatile double *)(long)(p->n - N + 64);
  if (is("vector not aligned")) {
    doublev4 v;
    simd_load(v, x + 1 + id % 2 * 2);
    y[0] = v[0];
  }
  if (is("too many commands"))
    for (int k = 0; k < 600; k++)
      athread_put(PE_MODE, y, p->c + id * 2, 16, &r, 0, 0);
}

void tiles(args *p)
{
  double x[T * T] __attribute__((aligned(32))), y[T * T];
  volatile int get = 0, put = 0, never;
  const int id = athread_get_id(-1), n = p->n;
  for (int k = 0; k < T * T && !is("put of nothing"); k++)
    y[k] = 0;
  around(p, x, y, id);
  for (int t = id; t < TILES; t += 64) {
    const int i = t / (N / T) * T, j = t % (N / T) * T;
    double *const a = p->a + i * n + j, *const b = p->b + i * n + j;
    if (t == 100 && is("tile skipped"))
      continue;
    if (t == id || !is("reply not reset"))
      get = 0;
    wrong_get(p, x, a, is("reply never set") ? &never : &get, n);
    if (is("reply set too late"))
      get = 0;
    if (is("put before its get has come"))
      athread_put(PE_MODE, x, b, T * T * 8, &put, (n - T) * 8, T * 8);
    if (is("two gets to one place"))
      athread_get(PE_MODE, a, x + 8, 64, &get, 0, 0, 0);
    if (is("reply never set"))
      dma_wait(&never, 1);
    else if (!is("get not waited for"))
      dma_wait(&get, is("waits for two") ? 2 : is("waits for nothing") ? 0 : 1);
    doubled(x, T * T);
    put = 0;
    if (!(t == 100 && is("put forgotten")))
      wrong_put(p, is("put of nothing") ? y : x, b, &put, n);
    if (is("changed while it goes"))
      x[id % 7] = 1;
    if (is("filled while it goes"))
      athread_get(PE_MODE, a, x, 64, &get, 0, 0, 0);
    if (!is("put not waited for") && !(t == 100 && is("put forgotten")))
      dma_wait(&put, 1);
  }
}
