/* Product of int16_t matrices, summed as int32_t; the reduction loop is outermost.
 * sizes: small n=40 m=50 k=60 | large n=700 m=800 k=900
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_gemm_i16_i32(int n, int m, int k, int32_t C[n][m], const int16_t A[n][k],
                         const int16_t B[k][m])
{
    int i, j, l;
#pragma scop
    for (l = 0; l < k; l++)
        for (i = 0; i < n; i++)
            for (j = 0; j < m; j++)
                C[i][j] += A[i][l] * B[l][j];
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
    int16_t *A = MAKE(int16_t, nA);
    int16_t *B = MAKE(int16_t, nB);
    int32_t *C = MAKE(int32_t, nC);

    FILL_WITH(A, nA, 1, (int16_t)((int)(u % 2000) - 1000));
    FILL_WITH(B, nB, 2, (int16_t)((int)(u % 1500) - 750));
    TIMED(kernel_gemm_i16_i32(n, m, k, (void *)C, (void *)A, (void *)B));
    CHECKSUM_OF("C", C, nC);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
