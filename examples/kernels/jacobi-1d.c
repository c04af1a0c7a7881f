/* jacobi-1d: three-point averaging of the inner points of a line,
 *     b_i := (a_i-1 + a_i + a_i+1) / 3, then a from b likewise, tsteps times.
 * sizes: small tsteps=40 n=120 | large tsteps=500 n=2000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_jacobi_1d(int tsteps, int n, real a[n], real b[n])
{
    int t, i;
    const real third = (real)1 / (real)3;

#pragma scop
    for (t = 0; t < tsteps; t++) {
        for (i = 1; i < n - 1; i++)
            b[i] = third * (a[i - 1] + a[i] + a[i + 1]);
        for (i = 1; i < n - 1; i++)
            a[i] = third * (b[i - 1] + b[i] + b[i + 1]);
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int tsteps = (int)size_arg(argc, argv, 1, 40);
    int n = (int)size_arg(argc, argv, 2, 120);
    real *a = make_reals(n), *b = make_reals(n);

    fill(a, n, 1);
    fill(b, n, 2);
    TIMED(kernel_jacobi_1d(tsteps, n, a, b));
    print_checksum("a", a, n);
    print_checksum("b", b, n);
    free(a);
    free(b);
    return 0;
}
#endif
