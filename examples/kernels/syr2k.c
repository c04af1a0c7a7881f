/* syr2k: symmetric rank-2m update of a lower triangle,
 *     C := alpha * (A * B^T + B * A^T) + beta * C,
 * A and B are n x m; C_ij only for j <= i.
 * sizes: small m=60 n=80 | large m=1000 n=1200
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_syr2k(int m, int n, real alpha, real beta,
                  real C[n][n], real A[n][m], real B[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i + 1; j++)
            C[i][j] *= beta;
        for (int k = 0; k < m; k++) {
            for (int j = 0; j < i + 1; j++) {
                C[i][j] += A[i][k] * alpha * B[j][k] + B[i][k] * alpha * A[j][k];
            }
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int m = (int)size_arg(argc, argv, 1, 60);
    int n = (int)size_arg(argc, argv, 2, 80);
    size_t nA = (size_t)n * m, nC = (size_t)n * n;
    real *A = make_reals(nA), *B = make_reals(nA), *C = make_reals(nC);

    fill(A, nA, 1);
    fill(B, nA, 2);
    fill(C, nC, 3);
    TIMED(kernel_syr2k(m, n, (real)2, (real)3, (void *)C, (void *)A, (void *)B));
    print_checksum("C", C, nC);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
