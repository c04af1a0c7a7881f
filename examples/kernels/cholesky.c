/* cholesky: A = L L^T for a symmetric positive definite n x n matrix;
 *     L_ij = (A_ij - sum_{k<j} L_ik L_jk) / L_jj          (j < i),
 *     L_ii = sqrt(A_ii - sum_{k<i} L_ik^2).
 * L overwrites the lower triangle of A; the strict upper one is not touched.
 * sizes: small n=120 | large n=2000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_cholesky(int n, real A[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        for (int k = 0; k < i; k++)
            A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = SQRT(A[i][i]);
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 120);
    size_t nA = (size_t)n * n;
    real *A = make_reals(nA);

    fill_spd(A, n);
    TIMED(kernel_cholesky(n, (void *)A));
    print_checksum("A", A, nA);
    free(A);
    return 0;
}
#endif
