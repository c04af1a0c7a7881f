/* Quantised convolution: int8_t pixels and weights, int32_t sums, int16_t
 * bias, requantised to int8_t with a shift and saturation.
 * sizes: small oc=6 ic=5 h=11 w=13 | large oc=32 ic=32 h=96 w=96
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_conv2d_int8(int oc, int ic, int h, int w, const int8_t in[ic][h + 2][w + 2],
                        const int8_t wt[oc][ic][3][3], const int16_t bias[oc],
                        int32_t acc[oc][h][w], int8_t out[oc][h][w])
{
    int o, c, y, x, r, s;
#pragma scop
    for (o = 0; o < oc; o++)
        for (y = 0; y < h; y++)
            for (x = 0; x < w; x++) {
                acc[o][y][x] = bias[o];
                for (c = 0; c < ic; c++)
                    for (r = 0; r < 3; r++)
                        for (s = 0; s < 3; s++)
                            acc[o][y][x] += in[c][y + r][x + s] * wt[o][c][r][s];
                out[o][y][x] = (int8_t)(acc[o][y][x] / 256 > 127 ? 127
                                        : acc[o][y][x] / 256 < -128 ? -128
                                        : acc[o][y][x] / 256);
            }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int oc = size_arg(argc, argv, 1, 6);
    int ic = size_arg(argc, argv, 2, 5);
    int h = size_arg(argc, argv, 3, 11);
    int w = size_arg(argc, argv, 4, 13);
    size_t ni = (size_t)ic * (h + 2) * (w + 2), nw = (size_t)oc * ic * 9, no = (size_t)oc * h * w;
    int8_t *in = MAKE(int8_t, ni), *wt = MAKE(int8_t, nw), *out = MAKE(int8_t, no);
    int16_t *bias = MAKE(int16_t, oc);
    int32_t *acc = MAKE(int32_t, no);

    FILL_WITH(in, ni, 1, (int8_t)((int)(u % 256) - 128));
    FILL_WITH(wt, nw, 2, (int8_t)((int)(u % 256) - 128));
    FILL_WITH(bias, oc, 3, (int16_t)((int)(u % 2000) - 1000));
    TIMED(kernel_conv2d_int8(oc, ic, h, w, (void *)in, (void *)wt, bias, (void *)acc, (void *)out));
    CHECKSUM_OF("acc", acc, no);
    CHECKSUM_OF("out", out, no);
    free(in);
    free(wt);
    free(out);
    free(bias);
    free(acc);
    return 0;
}
#endif
