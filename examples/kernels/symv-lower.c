/* y = A x for a symmetric A of which only the lower triangle is read: each
 * element serves two rows of the result.
 * sizes: small n=90 | large n=7000
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_symv_lower(unsigned n, const real A[n][n], const real x[n], real y[n])
{
    unsigned i, j;
#pragma scop
    for (i = 0; i < n; i++)
        y[i] = 0;
    for (i = 0; i < n; i++) {
        for (j = 0; j < i; j++) {
            y[i] += A[i][j] * x[j];
            y[j] += A[i][j] * x[i];
        }
        y[i] += A[i][i] * x[i];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    unsigned n = size_arg(argc, argv, 1, 90);
    size_t nn = (size_t)n * n;
    real *A = make_reals(nn), *x = make_reals(n), *y = make_reals(n);

    fill(A, nn, 1);
    fill(x, n, 2);
    TIMED(kernel_symv_lower(n, (void *)A, x, y));
    print_checksum("y", y, n);
    free(A);
    free(x);
    free(y);
    return 0;
}
#endif
