/* One level of the 2-D Haar wavelet transform of a 2h x 2w image and its
 * inverse: subscripts 2i and 2i + 1.
 * sizes: small h=25 w=31 | large h=1500 w=1500
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_haar_wavelet(int h, int w, real x[2 * h][2 * w], real ll[h][w], real lh[h][w],
                         real hl[h][w], real hh[h][w], real y[2 * h][2 * w])
{
    int i, j;
#pragma scop
    for (i = 0; i < h; i++)
        for (j = 0; j < w; j++) {
            ll[i][j] = x[2 * i][2 * j] + x[2 * i][2 * j + 1] + x[2 * i + 1][2 * j] + x[2 * i + 1][2 * j + 1];
            lh[i][j] = x[2 * i][2 * j] - x[2 * i][2 * j + 1] + x[2 * i + 1][2 * j] - x[2 * i + 1][2 * j + 1];
            hl[i][j] = x[2 * i][2 * j] + x[2 * i][2 * j + 1] - x[2 * i + 1][2 * j] - x[2 * i + 1][2 * j + 1];
            hh[i][j] = x[2 * i][2 * j] - x[2 * i][2 * j + 1] - x[2 * i + 1][2 * j] + x[2 * i + 1][2 * j + 1];
        }
    for (i = 0; i < h; i++)
        for (j = 0; j < w; j++) {
            y[2 * i][2 * j] = (ll[i][j] + lh[i][j] + hl[i][j] + hh[i][j]) / 4;
            y[2 * i][2 * j + 1] = (ll[i][j] - lh[i][j] + hl[i][j] - hh[i][j]) / 4;
            y[2 * i + 1][2 * j] = (ll[i][j] + lh[i][j] - hl[i][j] - hh[i][j]) / 4;
            y[2 * i + 1][2 * j + 1] = (ll[i][j] - lh[i][j] - hl[i][j] + hh[i][j]) / 4;
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 25);
    int w = size_arg(argc, argv, 2, 31);
    size_t n = (size_t)h * w;
    real *x = make_reals(4 * n), *y = make_reals(4 * n);
    real *ll = make_reals(n), *lh = make_reals(n), *hl = make_reals(n), *hh = make_reals(n);

    fill(x, 4 * n, 1);
    TIMED(kernel_haar_wavelet(h, w, (void *)x, (void *)ll, (void *)lh, (void *)hl, (void *)hh, (void *)y));
    print_checksum("ll", ll, n);
    print_checksum("lh", lh, n);
    print_checksum("hl", hl, n);
    print_checksum("hh", hh, n);
    print_checksum("y", y, 4 * n);
    free(x);
    free(y);
    free(ll);
    free(lh);
    free(hl);
    free(hh);
    return 0;
}
#endif
