_Static_assert(sizeof(long) >= 8, "tilewright computes loop bounds in 64-bit long");
#define TW_INLINE static inline __attribute__((unused))
#ifndef TW_PARALLEL_MIN
#define TW_PARALLEL_MIN 20000 /* nests with less work than this run on one thread */
#endif
#ifndef TW_SPAN
/* Memory from the element (or row) first to before past. */
#define TW_SPAN(p, first, past) tw_span_of((unsigned long)(p), sizeof *(p), first, past)
typedef struct { unsigned long begin, end; } tw_span;
TW_INLINE tw_span tw_span_of(unsigned long p, unsigned long size, long first, long past)
{
  const tw_span s = { p + size * (unsigned long)first, p + size * (unsigned long)past };
  return s;
}
/* Are the spans that are written, which come first, apart from each other and from the others? Empty ones are. */
TW_INLINE int tw_apart(int written, int all, const tw_span *s)
{
  int apart = 1;
  for (int i = 0; i < written; i++)
    for (int j = i + 1; j < all; j++)
      apart &= (s[i].begin > s[j].begin ? s[i].begin : s[j].begin) >= (s[i].end < s[j].end ? s[i].end : s[j].end);
  return apart;
}
#endif
/* The shortest nest of all. */
void axpy(int n, double a, const double *x, double *y)
{
    /* tilewright: region 1 of axpy: threads over i; vectors along i */
    {
      /* The fast version assumes: arrays do not overlap. */
      if (tw_apart(1, 2, (tw_span[]){ TW_SPAN(y, 0, n), TW_SPAN(x, 0, n) })) {
        if ((double)n < TW_PARALLEL_MIN) {
#pragma omp simd
          for (long i = 0; i < n; i++)
            y[i] += a * x[i];
        } else {
#pragma omp parallel for simd firstprivate(n, x, y)
          for (long i = 0; i < n; i++)
            y[i] += a * x[i];
        }
      } else {
        for (int i = 0; i < n; i++)
            y[i] += a * x[i];
      }
    }
}
