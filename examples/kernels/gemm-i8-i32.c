/* Product of int8_t matrices, summed as int32_t.
 * sizes: small n=40 m=50 k=60 | large n=700 m=800 k=900
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_gemm_i8_i32(int n, int m, int k, int32_t C[n][m], const int8_t A[n][k],
                        const int8_t B[k][m])
{
    int i, j, l;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            for (l = 0; l < k; l++)
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
    int8_t *A = MAKE(int8_t, nA);
    int8_t *B = MAKE(int8_t, nB);
    int32_t *C = MAKE(int32_t, nC);

    FILL_WITH(A, nA, 1, (int8_t)((int)(u % 256) - 128));
    FILL_WITH(B, nB, 2, (int8_t)((int)(u % 255) - 127));
    FILL_WITH(C, nC, 3, (int32_t)(u % 1000));
    TIMED(kernel_gemm_i8_i32(n, m, k, (void *)C, (void *)A, (void *)B));
    CHECKSUM_OF("C", C, nC);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
