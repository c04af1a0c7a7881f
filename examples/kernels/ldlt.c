/* L D L^T factorisation of a symmetric matrix, in place in the lower triangle,
 * D in a vector, left-looking; division but no square root.
 * sizes: small n=50 | large n=900
 * types: f64 f32
 */
#include "kernels.h"

void kernel_ldlt(int n, real A[n][n], real d[n])
{
    int i, j, k;
#pragma scop
    for (j = 0; j < n; j++) {
        d[j] = A[j][j];
        for (k = 0; k < j; k++)
            d[j] -= A[j][k] * A[j][k] * d[k];
        for (i = j + 1; i < n; i++) {
            for (k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k] * d[k];
            A[i][j] /= d[j];
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 50);
    size_t nn = (size_t)n * n;
    real *A = make_reals(nn), *d = make_reals(n);

    fill_spd(A, n);
    TIMED(kernel_ldlt(n, (void *)A, d));
    print_checksum("A", A, nn);
    print_checksum("d", d, n);
    free(A);
    free(d);
    return 0;
}
#endif
