/* Biquad (second-order recursive) filter over time for many channels; the
 * recurrence runs along the outer loop, the channels are independent.
 * sizes: small nt=80 nch=12 | large nt=80000 nch=256
 * types: f64 f32
 */
#include "kernels.h"

void kernel_iir_biquad(int nt, int nch, const real coef[5], const real x[nt][nch], real y[nt][nch])
{
    int t, c;
#pragma scop
    for (t = 2; t < nt; t++)
        for (c = 0; c < nch; c++)
            y[t][c] = coef[0] * x[t][c] + coef[1] * x[t - 1][c] + coef[2] * x[t - 2][c]
                      - coef[3] * y[t - 1][c] - coef[4] * y[t - 2][c];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 80);
    int nch = size_arg(argc, argv, 2, 12);
    size_t n = (size_t)nt * nch;
    real coef[5] = {(real)0.2, (real)0.4, (real)0.2, (real)-0.5, (real)0.3};
    real *x = make_reals(n), *y = make_reals(n);

    fill(x, n, 1);
    TIMED(kernel_iir_biquad(nt, nch, coef, (void *)x, (void *)y));
    print_checksum("y", y, n);
    free(x);
    free(y);
    return 0;
}
#endif
