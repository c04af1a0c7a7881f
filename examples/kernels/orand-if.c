/* Boolean product on bytes: an entry is set where both factors are.
 * sizes: small n=40 m=50 k=60 | large n=700 m=800 k=900
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_orand_if(int n, int m, int k, uint8_t C[n][m], const uint8_t A[n][k],
                     const uint8_t B[k][m])
{
    int i, j, l;
#pragma scop
    for (i = 0; i < n; i++)
        for (l = 0; l < k; l++)
            for (j = 0; j < m; j++)
                if (A[i][l] && B[l][j])
                    C[i][j] = 1;
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
    uint8_t *A = MAKE(uint8_t, nA);
    uint8_t *B = MAKE(uint8_t, nB);
    uint8_t *C = MAKE(uint8_t, nC);

    FILL_WITH(A, nA, 1, u % 40 == 0);
    FILL_WITH(B, nB, 2, u % 40 == 1);
    TIMED(kernel_orand_if(n, m, k, (void *)C, (void *)A, (void *)B));
    CHECKSUM_OF("C", C, nC);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
