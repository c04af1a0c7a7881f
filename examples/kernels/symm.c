/* symm: symmetric matrix times matrix,
 *     C := alpha * A * B + beta * C,
 * A is m x m symmetric and only its lower triangle is read; B, C are m x n.
 * sizes: small m=60 n=80 | large m=1000 n=1200
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_symm(int m, int n, real alpha, real beta,
                 real C[m][n], real A[m][m], real B[m][n])
{
    int i, j, k;
    real above;

#pragma scop
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            above = 0;
            for (k = 0; k < i; k++) {
                C[k][j] += alpha * B[i][j] * A[i][k];
                above += B[k][j] * A[i][k];
            }
            C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * above;
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int m = (int)size_arg(argc, argv, 1, 60);
    int n = (int)size_arg(argc, argv, 2, 80);
    size_t nA = (size_t)m * m, nB = (size_t)m * n;
    real *A = make_reals(nA), *B = make_reals(nB), *C = make_reals(nB);

    fill(A, nA, 1);
    fill(B, nB, 2);
    fill(C, nB, 3);
    TIMED(kernel_symm(m, n, (real)2, (real)3, (void *)C, (void *)A, (void *)B));
    print_checksum("C", C, nB);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
