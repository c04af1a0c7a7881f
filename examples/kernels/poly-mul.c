/* Product of two polynomials modulo 2^32: c[i + j] += a[i] * b[j].
 * sizes: small n=120 m=90 | large n=30000 m=30000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_poly_mul(int n, int m, const uint32_t *a, const uint32_t *b, uint32_t *c)
{
    int i, j;
#pragma scop
    for (i = 0; i < n + m; i++)
        c[i] = 0u;
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            c[i + j] += a[i] * b[j];
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 120);
    int m = size_arg(argc, argv, 2, 90);
    uint32_t *a = MAKE(uint32_t, n), *b = MAKE(uint32_t, m), *c = MAKE(uint32_t, (size_t)n + m);

    FILL_WITH(a, n, 1, u);
    FILL_WITH(b, m, 2, u);
    TIMED(kernel_poly_mul(n, m, a, b, c));
    CHECKSUM_OF("c", c, (size_t)n + m);
    free(a);
    free(b);
    free(c);
    return 0;
}
#endif
