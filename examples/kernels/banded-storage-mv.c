/* y = A x with A in LAPACK-like band storage of fixed half width W: the entry
 * (i, j) sits at ab[i][j - i + W].
 * sizes: small n=120 | large n=3000000
 * types: f64 f32 i32
 */
#include "kernels.h"

#define W 8

void kernel_banded_storage_mv(long n, const real ab[n][2 * W + 1], const real *x, real *y)
{
    long i, j;
#pragma scop
    for (i = 0; i < n; i++) {
        y[i] = 0;
        for (j = MAX(0, i - W); j < MIN(n, i + W + 1); j++)
            y[i] += ab[i][j - i + W] * x[j];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    long n = size_arg(argc, argv, 1, 120);
    size_t na = (size_t)n * (2 * W + 1);
    real *ab = make_reals(na), *x = make_reals(n), *y = make_reals(n);

    fill(ab, na, 1);
    fill(x, n, 2);
    TIMED(kernel_banded_storage_mv(n, (void *)ab, x, y));
    print_checksum("y", y, n);
    free(ab);
    free(x);
    free(y);
    return 0;
}
#endif
