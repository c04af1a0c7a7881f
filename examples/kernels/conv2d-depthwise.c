/* Depthwise 3 x 3 convolution in HWC layout with "same" zero padding written
 * as affine conditions inside the tap loops.
 * sizes: small h=14 w=17 c=8 | large h=500 w=500 c=64
 * types: f64 f32 i32
 */
#include <stddef.h>
#include "kernels.h"

void kernel_conv2d_depthwise(size_t h, size_t w, size_t c, real in[h][w][c],
                             real flt[3][3][c], real out[h][w][c])
{
    size_t y, x, k, r, s;
#pragma scop
    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            for (k = 0; k < c; k++)
                out[y][x][k] = 0;
            for (r = 0; r < 3; r++)
                for (s = 0; s < 3; s++)
                    if (y + r >= 1 && y + r <= h && x + s >= 1 && x + s <= w)
                        for (k = 0; k < c; k++)
                            out[y][x][k] += in[y + r - 1][x + s - 1][k] * flt[r][s][k];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    size_t h = size_arg(argc, argv, 1, 14);
    size_t w = size_arg(argc, argv, 2, 17);
    size_t c = size_arg(argc, argv, 3, 8);
    size_t n = h * w * c;
    real *in = make_reals(n), *flt = make_reals(9 * c), *out = make_reals(n);

    fill(in, n, 1);
    fill(flt, 9 * c, 2);
    TIMED(kernel_conv2d_depthwise(h, w, c, (void *)in, (void *)flt, (void *)out));
    print_checksum("out", out, n);
    free(in);
    free(flt);
    free(out);
    return 0;
}
#endif
