#ifndef TW_HELPERS
#define TW_HELPERS
_Static_assert(sizeof(long) >= 8, "tilewright computes loop bounds in 64-bit long");
#endif
#ifndef TW_PARALLEL_MIN
#define TW_PARALLEL_MIN 20000 /* nests with less work than this run on one thread */
#endif
/* The shortest nest of all. */
void axpy(int n, double a, const double *x, double *y)
{
    /* tilewright: region 1 of axpy: threads over i; vectors along i */
    {
      if ((double)n < TW_PARALLEL_MIN) {
#pragma omp simd
        for (long i = 0; i < n; i++)
          y[i] += a * x[i];
      } else {
#pragma omp parallel for simd
        for (long i = 0; i < n; i++)
          y[i] += a * x[i];
      }
    }
}
