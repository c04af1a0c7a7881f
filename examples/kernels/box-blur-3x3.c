/* 3x3 box blur of an h x w image; the one-pixel border is left alone.
 * sizes: small h=60 w=70 | large h=4000 w=4000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_box_blur_3x3(int h, int w, real out[h][w], real in[h][w])
{
    int i, j;
#pragma scop
    for (i = 1; i < h - 1; i++)
        for (j = 1; j < w - 1; j++)
            out[i][j] = (in[i - 1][j - 1] + in[i - 1][j] + in[i - 1][j + 1]
                         + in[i][j - 1] + in[i][j] + in[i][j + 1]
                         + in[i + 1][j - 1] + in[i + 1][j] + in[i + 1][j + 1]) / 9;
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 60);
    int w = size_arg(argc, argv, 2, 70);
    size_t n = (size_t)h * w;
    real *in = make_reals(n);
    real *out = make_reals(n);
    fill(in, n, 1);
    TIMED(kernel_box_blur_3x3(h, w, (void *)out, (void *)in));
    print_checksum("out", out, n);
    free(in);
    free(out);
    return 0;
}
#endif
