/* Heat in a square plate, on as many ranks as MPI starts.
 *
 *     du/dt = k (d2u/dx2 + d2u/dy2)
 *
 * Explicit steps on n x n points; two edges are kept at fixed temperatures, a hot disc is in the middle. Each rank holds a
 * block of rows. Rank 0 writes the picture heat.pgm.
 *
 *     make run
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef TW_RANKS /* compiled as it is: one process, which holds all rows */
static long tw_first(long n) { return n - n; }
static long tw_past(long n) { return n; }
static int tw_rank(void) { return 0; }
static void *tw_block(size_t bytes) { return calloc(bytes, 1); }
static void tw_unblock(void *p, size_t bytes) { (void)bytes, free(p); }
static void tw_gather(void *to, const void *from, long before, long n, long each)
{
  for (long k = 0; k < before * n * each; k++)
    ((char *)to)[k] = ((const char *)from)[k];
}
#endif

static void heat(int steps, int n, double c, double u[n][n], double v[n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        v[i][j] = u[i][j] + c * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[i][j] = v[i][j] + c * (v[i - 1][j] + v[i + 1][j] + v[i][j - 1] + v[i][j + 1] - 4 * v[i][j]);
  }
#pragma endscop
}

/* Temperatures at the start: the rows of this rank. */
static void start(int n, double u[n][n])
{
  for (long i = tw_first(n); i < tw_past(n); i++)
    for (int j = 0; j < n; j++) {
      const double x = (double)j / n - 0.5, y = (double)i / n - 0.5;
      u[i][j] = i == 0 ? 100 : j == 0 ? 50 : x * x + y * y < 0.04 ? 80 : 0;
    }
}

static int picture(const char *name, int n, double u[n][n])
{
  FILE *const f = fopen(name, "wb");
  if (!f)
    return 0;
  fprintf(f, "P5\n%d %d\n255\n", n, n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      fputc((int)(u[i][j] * 2.55), f);
  return fclose(f) == 0;
}

int main(int argc, char **argv)
{
  const int n = argc > 1 ? atoi(argv[1]) : 400, steps = argc > 2 ? atoi(argv[2]) : 2000;
  const size_t bytes = sizeof(double[n][n]);
  double(*const u)[n] = tw_block(bytes), (*const v)[n] = tw_block(bytes);
  if (!u || !v)
    return 1;
  start(n, u);
  start(n, v);
  heat(steps / 2, n, 0.24, u, v);

  double(*const whole)[n] = tw_rank() == 0 ? malloc(bytes) : 0;
  tw_gather(whole, u, 1, n, (long)sizeof u[0]);
  int fine = 1;
  if (whole) {
    double sum = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        sum += whole[i][j];
    fine = picture("heat.pgm", n, whole);
    printf("%d x %d points, %d steps: mean temperature %.12f\n", n, n, steps, sum / n / n);
    free(whole);
  }
  tw_unblock(u, bytes);
  tw_unblock(v, bytes);
  return !fine;
}
