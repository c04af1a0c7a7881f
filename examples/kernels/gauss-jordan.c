/* Gauss-Jordan elimination without pivoting, A | B -> I | A^-1 B; the pivot
 * row is excluded by an inequality i != k, which splits the domain in two.
 * sizes: small n=36 m=20 | large n=500 m=500
 * types: f64 f32
 */
#include "kernels.h"

void kernel_gauss_jordan(int n, int m, real A[n][n], real B[n][m])
{
    int i, j, k;
#pragma scop
    for (k = 0; k < n; k++) {
        for (j = k + 1; j < n; j++)
            A[k][j] /= A[k][k];
        for (j = 0; j < m; j++)
            B[k][j] /= A[k][k];
        A[k][k] = 1;
        for (i = 0; i < n; i++)
            if (i != k) {
                for (j = k + 1; j < n; j++)
                    A[i][j] -= A[i][k] * A[k][j];
                for (j = 0; j < m; j++)
                    B[i][j] -= A[i][k] * B[k][j];
                A[i][k] = 0;
            }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 36);
    int m = size_arg(argc, argv, 2, 20);
    size_t nA = (size_t)n * n, nB = (size_t)n * m;
    real *A = make_reals(nA), *B = make_reals(nB);

    fill_spd(A, n);
    fill(B, nB, 1);
    TIMED(kernel_gauss_jordan(n, m, (void *)A, (void *)B));
    print_checksum("A", A, nA);
    print_checksum("B", B, nB);
    free(A);
    free(B);
    return 0;
}
#endif
