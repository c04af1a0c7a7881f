/* y += alpha x, then w = y - x / 2: BLAS-1 style vector updates, with size_t
 * counts and pointers.
 * sizes: small n=1000 | large n=15000000
 * types: f64 f32 i32 i64
 */
#include <stddef.h>
#include "kernels.h"

void kernel_axpy(size_t n, real alpha, const real *restrict x, real *restrict y,
                 real *restrict w)
{
    size_t i;
#pragma scop
    for (i = 0; i < n; ++i)
        y[i] += alpha * x[i];
    for (i = 0; i < n; ++i)
        w[i] = y[i] - x[i] / 2;
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    size_t n = size_arg(argc, argv, 1, 1000);
    real *x = make_reals(n), *y = make_reals(n), *w = make_reals(n);

    fill(x, n, 1);
    fill(y, n, 2);
    TIMED(kernel_axpy(n, (real)3, x, y, w));
    print_checksum("y", y, n);
    print_checksum("w", w, n);
    free(x);
    free(y);
    free(w);
    return 0;
}
#endif
