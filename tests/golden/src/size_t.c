#include <stddef.h>

/* Sizes and counters of type size_t; sizes above 2^60 run the source's own loops. */
void outer(size_t n, size_t m, const double *restrict x, const double *restrict y, double *restrict out)
{
    size_t i, j;

#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            out[i * m + j] = x[i] * y[j];
#pragma endscop
}
