/* Autocorrelation of a signal for lags 0 .. nlag - 1: a trapezoidal domain.
 * sizes: small n=300 nlag=40 | large n=400000 nlag=500
 * types: f64 i64
 */
#include "kernels.h"

void kernel_autocorrelation(int n, int nlag, const real *x, real *r)
{
    int k, i;
#pragma scop
    for (k = 0; k < nlag; k++) {
        r[k] = 0;
        for (i = 0; i < n - k; i++)
            r[k] += x[i] * x[i + k];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 300);
    int nlag = size_arg(argc, argv, 2, 40);
    real *x = make_reals(n), *r = make_reals(nlag);

    fill(x, n, 1);
    TIMED(kernel_autocorrelation(n, nlag, x, r));
    print_checksum("r", r, nlag);
    free(x);
    free(r);
    return 0;
}
#endif
