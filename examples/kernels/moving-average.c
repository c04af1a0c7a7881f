/* Centred moving average over 2r + 1 samples, shortened at both ends; the
 * window sum is a temporary inside the region.
 * sizes: small n=300 r=4 | large n=2000000 r=20
 * types: f64 f32
 */
#include "kernels.h"

void kernel_moving_average(int n, int r, const real *x, real *y)
{
    int i, k;
#pragma scop
    for (i = 0; i < n; i++) {
        real sum = 0;
        real cnt = 0;
        for (k = (i > r ? i - r : 0); k <= (i + r < n ? i + r : n - 1); k++) {
            sum += x[k];
            cnt += 1;
        }
        y[i] = sum / cnt;
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 300);
    int r = size_arg(argc, argv, 2, 4);
    real *x = make_reals(n), *y = make_reals(n);

    fill(x, n, 1);
    TIMED(kernel_moving_average(n, r, x, y));
    print_checksum("y", y, n);
    free(x);
    free(y);
    return 0;
}
#endif
