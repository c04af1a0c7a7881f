/* Boolean product for 32 graphs at once, one bit of a uint32_t each: | and &.
 * sizes: small n=40 m=50 k=60 | large n=700 m=800 k=900
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_orand_bits(int n, int m, int k, uint32_t C[n][m], const uint32_t A[n][k],
                       const uint32_t B[k][m])
{
    int i, j, l;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            for (l = 0; l < k; l++)
                C[i][j] |= A[i][l] & B[l][j];
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 40);
    int m = (int)size_arg(argc, argv, 2, 50);
    int k = (int)size_arg(argc, argv, 3, 60);
    size_t nA = (size_t)n * k, nB = (size_t)k * m, nC = (size_t)n * m;
    uint32_t *A = MAKE(uint32_t, nA);
    uint32_t *B = MAKE(uint32_t, nB);
    uint32_t *C = MAKE(uint32_t, nC);

    FILL_WITH(A, nA, 1, u);
    FILL_WITH(B, nB, 2, mix(7, u));
    TIMED(kernel_orand_bits(n, m, k, (void *)C, (void *)A, (void *)B));
    CHECKSUM_OF("C", C, nC);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
