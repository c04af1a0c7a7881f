/* Dynamic time warping inside a Sakoe-Chiba band of half width r; cells off
 * the band keep the large value they are given first.
 * sizes: small n=70 r=9 | large n=5000 r=1000
 * types: f64 f32 i32
 */
#include "kernels.h"

#define BIG 1000000

void kernel_dtw_banded(int n, int r, const real *x, const real *y, real D[n + 1][n + 1])
{
    int i, j;
#pragma scop
    for (i = 0; i <= n; i++)
        for (j = 0; j <= n; j++)
            D[i][j] = BIG;
    D[0][0] = 0;
    for (i = 1; i <= n; i++)
        for (j = MAX(1, i - r); j <= MIN(n, i + r); j++)
            D[i][j] = (x[i - 1] > y[j - 1] ? x[i - 1] - y[j - 1] : y[j - 1] - x[i - 1])
                      + MIN(D[i - 1][j - 1], MIN(D[i - 1][j], D[i][j - 1]));
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 70);
    int r = size_arg(argc, argv, 2, 9);
    size_t nn = ((size_t)n + 1) * (n + 1);
    real *x = make_reals(n), *y = make_reals(n), *D = make_reals(nn);

    fill(x, n, 1);
    fill(y, n, 2);
    TIMED(kernel_dtw_banded(n, r, x, y, (void *)D));
    print_checksum("D", D, nn);
    free(x);
    free(y);
    free(D);
    return 0;
}
#endif
