/* A sound wave in a box, on as many ranks as MPI starts.
 *
 *     d2p/dt2 = c2 (d2p/dx2 + d2p/dy2 + d2p/dz2)
 *
 * Leapfrog steps on n x n x n points; the walls keep the pressure at zero, and a pulse starts off the middle. Each rank
 * holds a block of planes. Rank 0 writes the picture wave.pgm: a cut through the middle, grey where nothing has happened.
 *
 *     make run
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef TW_RANKS /* compiled as it is: one process, which holds all planes */
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

/* Two time steps in each round: p is at even steps, q at odd ones. */
static void wave(int rounds, int n, double c, double p[n][n][n], double q[n][n][n])
{
#pragma scop
  for (int t = 0; t < rounds; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          q[i][j][k] = 2 * p[i][j][k] - q[i][j][k]
                       + c * (p[i - 1][j][k] + p[i + 1][j][k] + p[i][j - 1][k] + p[i][j + 1][k] + p[i][j][k - 1]
                              + p[i][j][k + 1] - 6 * p[i][j][k]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        for (int k = 1; k < n - 1; k++)
          p[i][j][k] = 2 * q[i][j][k] - p[i][j][k]
                       + c * (q[i - 1][j][k] + q[i + 1][j][k] + q[i][j - 1][k] + q[i][j + 1][k] + q[i][j][k - 1]
                              + q[i][j][k + 1] - 6 * q[i][j][k]);
  }
#pragma endscop
}

/* The pulse: the planes of this rank, at rest in the first two steps. */
static void start(int n, double p[n][n][n])
{
  for (long i = tw_first(n); i < tw_past(n); i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) {
        const double x = (double)i / n - 0.4, y = (double)j / n - 0.5, z = (double)k / n - 0.35;
        const int wall = i == 0 || j == 0 || k == 0 || i == n - 1 || j == n - 1 || k == n - 1;
        p[i][j][k] = wall ? 0 : exp(-200 * (x * x + y * y + z * z));
      }
}

static int picture(const char *name, int n, double p[n][n][n])
{
  FILE *const f = fopen(name, "wb");
  if (!f)
    return 0;
  fprintf(f, "P5\n%d %d\n255\n", n, n);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) {
      const double shade = 127 + 600 * p[i][n / 2][k];
      fputc(shade < 0 ? 0 : shade > 255 ? 255 : (int)shade, f);
    }
  return fclose(f) == 0;
}

int main(int argc, char **argv)
{
  const int n = argc > 1 ? atoi(argv[1]) : 96, steps = argc > 2 ? atoi(argv[2]) : 80;
  const size_t bytes = sizeof(double[n][n][n]);
  double(*const p)[n][n] = tw_block(bytes), (*const q)[n][n] = tw_block(bytes);
  if (!p || !q)
    return 1;
  start(n, p);
  start(n, q);
  wave(steps / 2, n, 0.25, p, q);

  double(*const whole)[n][n] = tw_rank() == 0 ? malloc(bytes) : 0;
  tw_gather(whole, p, 1, n, (long)sizeof p[0]);
  int fine = 1;
  if (whole) {
    double energy = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
          energy += whole[i][j][k] * whole[i][j][k];
    fine = picture("wave.pgm", n, whole);
    printf("%d^3 points, %d steps: sum of squares %.12f\n", n, steps, energy);
    free(whole);
  }
  tw_unblock(p, bytes);
  tw_unblock(q, bytes);
  return !fine;
}
