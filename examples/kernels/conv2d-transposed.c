/* Transposed convolution with stride 2: every input pixel scatters a 4 x 4
 * patch, and overlapping patches add up.
 * sizes: small h=20 w=24 | large h=1200 w=1200
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_conv2d_transposed(int h, int w, real in[h][w], real f[4][4],
                              real out[2 * h + 2][2 * w + 2])
{
    int i, j, p, q;
#pragma scop
    for (i = 0; i < 2 * h + 2; i++)
        for (j = 0; j < 2 * w + 2; j++)
            out[i][j] = 0;
    for (i = 0; i < h; i++)
        for (j = 0; j < w; j++)
            for (p = 0; p < 4; p++)
                for (q = 0; q < 4; q++)
                    out[2 * i + p][2 * j + q] += in[i][j] * f[p][q];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 20);
    int w = size_arg(argc, argv, 2, 24);
    size_t ni = (size_t)h * w, no = (size_t)(2 * h + 2) * (2 * w + 2);
    real *in = make_reals(ni), *f = make_reals(16), *out = make_reals(no);

    fill(in, ni, 1);
    fill(f, 16, 2);
    TIMED(kernel_conv2d_transposed(h, w, (void *)in, (void *)f, (void *)out));
    print_checksum("out", out, no);
    free(in);
    free(f);
    free(out);
    return 0;
}
#endif
