/* Product with a matrix of affine skyline: row i starts at column i/3 (and
 * stops at the diagonal), and its transpose at once; division in a bound.
 * sizes: small n=100 | large n=8000
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_skyline_mv(int n, real S[n][n], real x[n], real y[n], real z[n])
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i++) {
        y[i] = 0;
        z[i] = 0;
    }
    for (i = 0; i < n; i++)
        for (j = i / 3; j <= i; j++) {
            y[i] += S[i][j] * x[j];
            z[j] += S[i][j] * x[i];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 100);
    size_t nn = (size_t)n * n;
    real *S = make_reals(nn), *x = make_reals(n), *y = make_reals(n), *z = make_reals(n);

    fill(S, nn, 1);
    fill(x, n, 2);
    TIMED(kernel_skyline_mv(n, (void *)S, x, y, z));
    print_checksum("y", y, n);
    print_checksum("z", z, n);
    free(S);
    free(x);
    free(y);
    free(z);
    return 0;
}
#endif
