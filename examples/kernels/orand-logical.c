/* Boolean product, which nodes are reached in two steps: || and && on int, with
 * short-circuit evaluation.
 * sizes: small n=40 m=50 k=60 | large n=700 m=800 k=900
 * types: fixed
 */
#include "kernels.h"

void kernel_orand_logical(int n, int m, int k, int C[n][m], const int A[n][k],
                          const int B[k][m])
{
    int i, j, l;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            for (l = 0; l < k; l++)
                C[i][j] = C[i][j] || (A[i][l] && B[l][j]);
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
    int *A = MAKE(int, nA);
    int *B = MAKE(int, nB);
    int *C = MAKE(int, nC);

    FILL_WITH(A, nA, 1, u % 40 == 0);
    FILL_WITH(B, nB, 2, u % 40 == 1);
    FILL_WITH(C, nC, 3, u % 50 == 0);
    TIMED(kernel_orand_logical(n, m, k, (void *)C, (void *)A, (void *)B));
    CHECKSUM_OF("C", C, nC);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
