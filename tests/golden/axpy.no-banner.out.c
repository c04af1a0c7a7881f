#ifndef TW_INDEX
#define TW_INDEX
typedef long long tw_index; /* 64 bits on every machine */
#endif
#ifndef TW_ADDRESS
#define TW_ADDRESS
typedef __UINTPTR_TYPE__ tw_address; /* as wide as a pointer */
#endif
#define TW_INLINE static inline __attribute__((unused))
#ifndef TW_PARALLEL_MIN
#define TW_PARALLEL_MIN 20000 /* nests with less work than this run on one thread */
#endif
#ifndef TW_SPAN
/* Memory from the element (or row) first to before past. */
#define TW_SPAN(p, first, past) tw_span_of((tw_address)(p), sizeof *(p), first, past)
typedef struct { unsigned long long begin, end; } tw_span;
TW_INLINE tw_span tw_span_of(unsigned long long p, unsigned long long size, tw_index first, tw_index past)
{
  const tw_span s = { p + size * (unsigned long long)first, p + size * (unsigned long long)past };
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
          for (tw_index i = 0; i < n; i++)
            y[i] += a * x[i];
        } else {
#pragma omp parallel for simd firstprivate(n, x, y)
          for (tw_index i = 0; i < n; i++)
            y[i] += a * x[i];
        }
      } else {
        for (int i = 0; i < n; i++)
            y[i] += a * x[i];
      }
    }
}
