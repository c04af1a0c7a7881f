/* Multi-channel convolution layer, NCHW layout, 3 x 3 filters, with bias:
 * out[n][k][y][x] = bias[k] + sum over c, r, s of in[n][c][y+r][x+s] * w[k][c][r][s].
 * sizes: small nb=2 nk=5 nc=4 h=12 w=10 | large nb=4 nk=32 nc=32 h=64 w=64
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_conv2d_nchw(int nb, int nk, int nc, int h, int w,
                        real in[nb][nc][h + 2][w + 2], real wt[nk][nc][3][3],
                        real bias[nk], real out[nb][nk][h][w])
{
    int n, k, c, y, x, r, s;
#pragma scop
    for (n = 0; n < nb; n++)
        for (k = 0; k < nk; k++) {
            for (y = 0; y < h; y++)
                for (x = 0; x < w; x++)
                    out[n][k][y][x] = bias[k];
            for (c = 0; c < nc; c++)
                for (y = 0; y < h; y++)
                    for (x = 0; x < w; x++)
                        for (r = 0; r < 3; r++)
                            for (s = 0; s < 3; s++)
                                out[n][k][y][x] += in[n][c][y + r][x + s] * wt[k][c][r][s];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nb = size_arg(argc, argv, 1, 2);
    int nk = size_arg(argc, argv, 2, 5);
    int nc = size_arg(argc, argv, 3, 4);
    int h = size_arg(argc, argv, 4, 12);
    int w = size_arg(argc, argv, 5, 10);
    size_t ni = (size_t)nb * nc * (h + 2) * (w + 2), nw = (size_t)nk * nc * 9;
    size_t no = (size_t)nb * nk * h * w;
    real *in = make_reals(ni), *wt = make_reals(nw), *bias = make_reals(nk), *out = make_reals(no);

    fill(in, ni, 1);
    fill(wt, nw, 2);
    fill(bias, nk, 3);
    TIMED(kernel_conv2d_nchw(nb, nk, nc, h, w, (void *)in, (void *)wt, bias, (void *)out));
    print_checksum("out", out, no);
    free(in);
    free(wt);
    free(bias);
    free(out);
    return 0;
}
#endif
