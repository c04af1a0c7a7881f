/* Product with the transpose, C = A^T B, where A is k x n and B is k x m; the
 * reduction loop is outermost and written backwards.
 * sizes: small n=40 m=50 k=60 | large n=700 m=700 k=700
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_gemm_at(int n, int m, int k, real C[restrict n][m],
                    const real A[restrict k][n], const real B[restrict k][m])
{
    int i, j, l;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            C[i][j] = 0;
    for (l = k - 1; l >= 0; l--)
        for (i = 0; i < n; i++)
            for (j = 0; j < m; j++)
                C[i][j] += A[l][i] * B[l][j];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 40);
    int m = size_arg(argc, argv, 2, 50);
    int k = size_arg(argc, argv, 3, 60);
    size_t nC = (size_t)n * m, nA = (size_t)k * n, nB = (size_t)k * m;
    real *C = make_reals(nC), *A = make_reals(nA), *B = make_reals(nB);

    fill(A, nA, 1);
    fill(B, nB, 2);
    TIMED(kernel_gemm_at(n, m, k, (void *)C, (void *)A, (void *)B));
    print_checksum("C", C, nC);
    free(C);
    free(A);
    free(B);
    return 0;
}
#endif
