/* FIR filter of a long signal with a global table of 64 taps; the signal
 * carries its history in front.
 * sizes: small n=400 | large n=5000000
 * types: f64 f32 i32
 */
#include "kernels.h"

#define TAPS 64

real fir_taps[TAPS];

void kernel_fir(int n, const real x[n + TAPS], real y[n])
{
    int i, k;
#pragma scop
    for (i = 0; i < n; i++) {
        y[i] = 0;
        for (k = 0; k < TAPS; k++)
            y[i] += fir_taps[k] * x[i + TAPS - 1 - k];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 400);
    real *x = make_reals((size_t)n + TAPS), *y = make_reals(n);

    fill(fir_taps, TAPS, 1);
    fill(x, (size_t)n + TAPS, 2);
    TIMED(kernel_fir(n, x, y));
    print_checksum("y", y, n);
    free(x);
    free(y);
    return 0;
}
#endif
