/* A deliberately ragged imperfect nest: statements before, between and after
 * triangular loops, compound assignments of every kind on int64_t / uint16_t,
 * bounds with floor divisions of parameters.
 * sizes: small n=60 m=50 | large n=3000 m=2400
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_tri_imperfect(int64_t n, int64_t m, int64_t A[n][m], uint16_t B[m], int64_t total[n])
{
    int64_t i, j, k;
#pragma scop
    for (i = 0; i < n; i++) {
        total[i] = i;
        for (j = 0; j < m && j <= i; j++) {
            A[i][j] -= 3 * j;
            for (k = j; k < (m + 3) / 4; k++)
                A[i][k] ^= (int64_t)B[k] << 2;
            total[i] += A[i][j];
        }
        for (j = m / 2; j < m; j += 3) {
            B[j] |= 1;
            B[j] += 7;
            B[j] &= 0x7fff;
        }
        total[i] >>= 1;
        total[i] %= 1000003;
    }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int64_t n = size_arg(argc, argv, 1, 60);
    int64_t m = size_arg(argc, argv, 2, 50);
    size_t nA = (size_t)n * m;
    int64_t *A = MAKE(int64_t, nA), *total = MAKE(int64_t, n);
    uint16_t *B = MAKE(uint16_t, m);

    FILL_WITH(A, nA, 1, (int64_t)u);
    FILL_WITH(B, m, 2, (uint16_t)u);
    TIMED(kernel_tri_imperfect(n, m, (void *)A, B, total));
    CHECKSUM_OF("A", A, nA);
    CHECKSUM_OF("B", B, m);
    CHECKSUM_OF("total", total, n);
    free(A);
    free(B);
    free(total);
    return 0;
}
#endif
