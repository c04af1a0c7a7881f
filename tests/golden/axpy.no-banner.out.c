_Static_assert(sizeof(long) >= 8, "tilewright computes loop bounds in 64-bit long");
#ifndef TW_PARALLEL_MIN
#define TW_PARALLEL_MIN 20000 /* nests with less work than this run on one thread */
#endif
#ifndef TW_SPAN
#define TW_SPAN(p, first, past) tw_span_of(p, first, past, sizeof *(p))
/* Memory from the element (or row) first to before past; nowhere if there is none. */
typedef struct { unsigned long begin, end; } tw_span;
static inline tw_span tw_span_of(const void *p, long first, long past, unsigned long size)
{
  const unsigned long at = (unsigned long)p, low = (unsigned long)first, high = (unsigned long)past;
  const tw_span none = { 0, 0 }, some = { at + low * size, at + high * size };
  return first < past ? some : none;
}
/* Are the spans that are written, which come first, apart from each other and from the others? */
static inline int tw_apart(int written, int all, const tw_span *s)
{
  for (int i = 0; i < written; i++)
    for (int j = i + 1; j < all; j++)
      if (s[i].begin < s[j].end && s[j].begin < s[i].end)
        return 0;
  return 1;
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
#pragma omp parallel for simd
          for (long i = 0; i < n; i++)
            y[i] += a * x[i];
        }
      } else {
        for (int i = 0; i < n; i++)
            y[i] += a * x[i];
      }
    }
}
