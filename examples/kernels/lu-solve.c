/* LU factorisation, forward and backward substitution as three regions
 * of one function.
 * sizes: small n=48 | large n=900
 * types: f64 f32
 */
#include "kernels.h"

void kernel_lu_solve(int n, real A[n][n], real b[n], real x[n])
{
    int i, j, k;

#pragma scop
    for (k = 0; k < n; k++)
        for (i = k + 1; i < n; i++) {
            A[i][k] /= A[k][k];
            for (j = k + 1; j < n; j++)
                A[i][j] -= A[i][k] * A[k][j];
        }
#pragma endscop

#pragma scop
    for (i = 0; i < n; i++) {
        x[i] = b[i];
        for (j = 0; j < i; j++)
            x[i] -= A[i][j] * x[j];
    }
#pragma endscop

#pragma scop
    for (i = n - 1; i >= 0; i--) {
        for (j = i + 1; j < n; j++)
            x[i] -= A[i][j] * x[j];
        x[i] /= A[i][i];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 48);
    size_t nn = (size_t)n * n;
    real *A = make_reals(nn), *b = make_reals(n), *x = make_reals(n);

    fill_spd(A, n);
    fill(b, n, 1);
    TIMED(kernel_lu_solve(n, (void *)A, b, x));
    print_checksum("A", A, nn);
    print_checksum("x", x, n);
    free(A);
    free(b);
    free(x);
    return 0;
}
#endif
