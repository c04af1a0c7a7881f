/* ludcmp: solve A x = b by A = L U (no pivoting, in place), then
 *     y_i = b_i - sum_{j<i} L_ij y_j            for i rising,
 *     x_i = (y_i - sum_{j>i} U_ij x_j) / U_ii   for i falling.
 * sizes: small n=120 | large n=2000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_ludcmp(int n, real A[n][n], real b[n], real x[n], real y[n])
{
    real acc;

#pragma scop
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            acc = A[i][j];
            for (int k = 0; k < j; k++)
                acc -= A[i][k] * A[k][j];
            A[i][j] = acc / A[j][j];
        }
        for (int j = i; j < n; j++) {
            acc = A[i][j];
            for (int k = 0; k < i; k++)
                acc -= A[i][k] * A[k][j];
            A[i][j] = acc;
        }
    }

    for (int i = 0; i < n; i++) {
        acc = b[i];
        for (int j = 0; j < i; j++)
            acc -= A[i][j] * y[j];
        y[i] = acc;
    }

    for (int i = n - 1; i >= 0; i--) {
        acc = y[i];
        for (int j = i + 1; j < n; j++)
            acc -= A[i][j] * x[j];
        x[i] = acc / A[i][i];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 120);
    size_t nA = (size_t)n * n;
    real *A = make_reals(nA), *b = make_reals(n), *x = make_reals(n), *y = make_reals(n);

    fill_spd(A, n);
    fill(b, n, 2);
    TIMED(kernel_ludcmp(n, (void *)A, b, x, y));
    print_checksum("A", A, nA);
    print_checksum("y", y, n);
    print_checksum("x", x, n);
    free(A);
    free(b);
    free(x);
    free(y);
    return 0;
}
#endif
