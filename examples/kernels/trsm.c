/* Triangular solves L X = B and then U Y = X, both in place on B, for nrhs
 * right-hand sides; the second solve walks upwards from the last row.
 * sizes: small n=40 nrhs=30 | large n=800 nrhs=600
 * types: f64 f32
 */
#include "kernels.h"

void kernel_trsm(int n, int nrhs, const real L[n][n], const real U[n][n], real B[n][nrhs])
{
    int i, j, k;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < nrhs; j++) {
            for (k = 0; k < i; k++)
                B[i][j] -= L[i][k] * B[k][j];
            B[i][j] /= L[i][i];
        }
    for (i = n - 1; i > -1; i -= 1)
        for (j = 0; j < nrhs; j++) {
            for (k = i + 1; k < n; k++)
                B[i][j] -= U[i][k] * B[k][j];
            B[i][j] /= U[i][i];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 40);
    int nrhs = size_arg(argc, argv, 2, 30);
    size_t nn = (size_t)n * n, nb = (size_t)n * nrhs;
    real *L = make_reals(nn), *U = make_reals(nn), *B = make_reals(nb);

    fill_spd(L, n);
    fill_spd(U, n);
    fill(B, nb, 1);
    TIMED(kernel_trsm(n, nrhs, (void *)L, (void *)U, (void *)B));
    print_checksum("B", B, nb);
    free(L);
    free(U);
    free(B);
    return 0;
}
#endif
