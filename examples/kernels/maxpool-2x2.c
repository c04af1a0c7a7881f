/* Max pooling 2 x 2 and mean pooling of the same windows, step-2 loops over
 * the input with the output subscript divided by two.  Odd edges are dropped.
 * sizes: small nc=3 h=21 w=30 | large nc=16 h=1000 w=1000
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_maxpool_2x2(int nc, int h, int w, real in[nc][h][w],
                        real mx[nc][h / 2][w / 2], real avg[nc][h / 2][w / 2])
{
    int c, i, j;
#pragma scop
    for (c = 0; c < nc; c++)
        for (i = 0; i < h - 1; i += 2)
            for (j = 0; j < w - 1; j = j + 2) {
                mx[c][i / 2][j / 2] = MAX(MAX(in[c][i][j], in[c][i][j + 1]),
                                          MAX(in[c][i + 1][j], in[c][i + 1][j + 1]));
                avg[c][i / 2][j / 2] = (in[c][i][j] + in[c][i][j + 1]
                                        + in[c][i + 1][j] + in[c][i + 1][j + 1]) / 4;
            }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nc = size_arg(argc, argv, 1, 3);
    int h = size_arg(argc, argv, 2, 21);
    int w = size_arg(argc, argv, 3, 30);
    size_t ni = (size_t)nc * h * w, no = (size_t)nc * (h / 2) * (w / 2);
    real *in = make_reals(ni), *mx = make_reals(no), *avg = make_reals(no);

    fill(in, ni, 1);
    TIMED(kernel_maxpool_2x2(nc, h, w, (void *)in, (void *)mx, (void *)avg));
    print_checksum("mx", mx, no);
    print_checksum("avg", avg, no);
    free(in);
    free(mx);
    free(avg);
    return 0;
}
#endif
