/* C += A * B in boxes: each rank holds a box of all three, on a grid of ranks with two axes.
 *
 * Says the seconds of the region, the least of ROUNDS (from the environment), the bytes of memory that the rank needs
 * with all its buffers, and how far a few elements are from
 * what they should be.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef TW_RANKS /* compiled as it is: one process, which holds everything */
static long tw_first_at(int axis, long n) { return (void)n, (long)axis - axis; }
static long tw_past_at(int axis, long n) { return (void)axis, n; }
static void *tw_block(size_t bytes) { return calloc(bytes, 1); }
#endif

static void product(int n, double C[n][n], double A[n][n], double B[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}

static double left(int i, int k) { return (double)((i * 3 + k * 7) % 11 - 5); }
static double right(int k, int j) { return (double)((k * 5 + j * 2) % 13 - 6); }

/* The memory of this process in bytes: of pages that it shares with others, its part. */
static long memory_now(void)
{
  char line[256];
  long found = 0;
  FILE *const f = fopen("/proc/self/smaps_rollup", "r");
  while (f && fgets(line, sizeof line, f))
    if (strncmp(line, "Pss:", 4) == 0)
      found = atol(line + 4) * 1024;
  if (f)
    fclose(f);
  return found;
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
  const int n = argc > 1 ? atoi(argv[1]) : 200;
  const size_t bytes = sizeof(double[n][n]);
  double(*const C)[n] = tw_block(bytes), (*const A)[n] = tw_block(bytes), (*const B)[n] = tw_block(bytes);
  if (!C || !A || !B)
    return 1;
  const long i0 = tw_first_at(0, n), i1 = tw_past_at(0, n), j0 = tw_first_at(1, n), j1 = tw_past_at(1, n);
  const long before = memory_now();
  for (long i = i0; i < i1; i++)
    for (long j = j0; j < j1; j++)
      A[i][j] = left((int)i, (int)j), B[i][j] = right((int)i, (int)j);
  double least = 1e30, off = 0;
  for (long round = getenv("ROUNDS") ? atol(getenv("ROUNDS")) : 1; round > 0; round--) {
    for (long i = i0; i < i1; i++)
      for (long j = j0; j < j1; j++)
        C[i][j] = 1;
#ifdef TW_RANKS
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    const double begun = now();
    product(n, C, A, B);
    double took = now() - begun;
#ifdef TW_RANKS
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
#endif
    least = fmin(least, took);
  }
  for (int t = 0; t < 16 && i1 > i0 && j1 > j0; t++) {
    const int i = (int)(i0 + (t * 37L) % (i1 - i0)), j = (int)(j0 + (t * 61L) % (j1 - j0));
    double sum = 1;
    for (int k = 0; k < n; k++)
      sum += left(i, k) * right(k, j);
    off = fmax(off, fabs(sum - C[i][j]));
  }
  fprintf(stderr, "%.6f\nmemory %ld\n", least, memory_now() - before);
  printf("off by %g\n", off);
  return off != 0;
}
