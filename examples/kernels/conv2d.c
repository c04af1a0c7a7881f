/* Valid 2-D convolution of an (h+kh) x (w+kw) image with a kh x kw filter;
 * the filter size is a parameter and the output is h x w.
 * sizes: small h=40 w=50 kh=5 kw=3 | large h=1500 w=1500 kh=9 kw=9
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_conv2d(int h, int w, int kh, int kw, real img[h + kh][w + kw],
                   real flt[kh][kw], real out[h][w])
{
    int i, j, p, q;
#pragma scop
    for (i = 0; i < h; i++)
        for (j = 0; j < w; j++) {
            out[i][j] = 0;
            for (p = 0; p < kh; p++)
                for (q = 0; q < kw; q++)
                    out[i][j] += img[i + kh - p][j + kw - q] * flt[p][q];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 40);
    int w = size_arg(argc, argv, 2, 50);
    int kh = size_arg(argc, argv, 3, 5);
    int kw = size_arg(argc, argv, 4, 3);
    size_t ni = (size_t)(h + kh) * (w + kw), nf = (size_t)kh * kw, no = (size_t)h * w;
    real *img = make_reals(ni), *flt = make_reals(nf), *out = make_reals(no);

    fill(img, ni, 1);
    fill(flt, nf, 2);
    TIMED(kernel_conv2d(h, w, kh, kw, (void *)img, (void *)flt, (void *)out));
    print_checksum("out", out, no);
    free(img);
    free(flt);
    free(out);
    return 0;
}
#endif
