/* Causal 1-D convolution over time for several channels, dilation 2: taps
 * that reach before the start are skipped by an affine condition.
 * sizes: small nt=90 nch=6 ntaps=7 | large nt=20000 nch=64 ntaps=32
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_conv1d_causal(int nt, int nch, int ntaps, real x[nt][nch],
                          real w[ntaps][nch], real y[nt][nch])
{
#pragma scop
    for (int t = 0; t < nt; t++)
        for (int c = 0; c < nch; c++) {
            y[t][c] = 0;
            for (int k = 0; k < ntaps; k++)
                if (t - 2 * k >= 0)
                    y[t][c] += w[k][c] * x[t - 2 * k][c];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 90);
    int nch = size_arg(argc, argv, 2, 6);
    int ntaps = size_arg(argc, argv, 3, 7);
    size_t nx = (size_t)nt * nch, nw = (size_t)ntaps * nch;
    real *x = make_reals(nx), *w = make_reals(nw), *y = make_reals(nx);

    fill(x, nx, 1);
    fill(w, nw, 2);
    TIMED(kernel_conv1d_causal(nt, nch, ntaps, (void *)x, (void *)w, (void *)y));
    print_checksum("y", y, nx);
    free(x);
    free(w);
    free(y);
    return 0;
}
#endif
