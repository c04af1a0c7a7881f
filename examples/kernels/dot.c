/* Dot product and squared norms of two vectors: three scalar reductions in
 * one loop, results through one-element arrays.
 * sizes: small n=1000 | large n=40000000
 * types: f64 i32 i64
 */
#include "kernels.h"

void kernel_dot(long n, const real *restrict x, const real *restrict y, real out[3])
{
    long i;
    real xy = 0, xx = 0, yy = 0;
#pragma scop
    for (i = 0; i < n; i++) {
        xy += x[i] * y[i];
        xx += x[i] * x[i];
        yy += y[i] * y[i];
    }
    out[0] = xy;
    out[1] = xx;
    out[2] = yy;
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    long n = size_arg(argc, argv, 1, 1000);
    real *x = make_reals(n), *y = make_reals(n), out[3] = {0};

    fill(x, n, 1);
    fill(y, n, 2);
    TIMED(kernel_dot(n, x, y, out));
    print_checksum("out", out, 3);
    free(x);
    free(y);
    return 0;
}
#endif
