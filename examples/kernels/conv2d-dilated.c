/* Dilated ("a trous") 3 x 3 convolution with dilation 4; the image carries a
 * margin of 8, sizes are of type long.
 * sizes: small h=33 w=29 | large h=2500 w=2500
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

#define D 4

void kernel_conv2d_dilated(long h, long w, const real in[h + 2 * D][w + 2 * D],
                           const real f[3][3], real out[h][w])
{
    long i, j, p, q;
#pragma scop
    for (i = 0; i < h; i++) {
        for (j = 0; j < w; j++)
            out[i][j] = 0;
        for (p = 0; p < 3; p++)
            for (q = 0; q < 3; q++)
                for (j = 0; j < w; j++)
                    out[i][j] += f[p][q] * in[i + D * p][j + D * q];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    long h = size_arg(argc, argv, 1, 33);
    long w = size_arg(argc, argv, 2, 29);
    size_t ni = (size_t)(h + 2 * D) * (w + 2 * D), no = (size_t)h * w;
    real *in = make_reals(ni), *f = make_reals(9), *out = make_reals(no);

    fill(in, ni, 1);
    fill(f, 9, 2);
    TIMED(kernel_conv2d_dilated(h, w, (void *)in, (void *)f, (void *)out));
    print_checksum("out", out, no);
    free(in);
    free(f);
    free(out);
    return 0;
}
#endif
