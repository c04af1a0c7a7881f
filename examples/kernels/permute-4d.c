/* NCHW to NHWC and back with a scale: two rank-4 permutations in a row.
 * sizes: small n=3 c=5 h=7 w=9 | large n=8 c=64 h=150 w=150
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_permute_4d(int n, int c, int h, int w, real src[n][c][h][w],
                       real nhwc[n][h][w][c], real back[n][c][h][w])
{
    int i, k, y, x;
#pragma scop
    for (i = 0; i < n; i++)
        for (k = 0; k < c; k++)
            for (y = 0; y < h; y++)
                for (x = 0; x < w; x++)
                    nhwc[i][y][x][k] = src[i][k][y][x];
    for (i = 0; i < n; i++)
        for (y = 0; y < h; y++)
            for (x = 0; x < w; x++)
                for (k = 0; k < c; k++)
                    back[i][k][y][x] = 3 * nhwc[i][y][x][k];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 3);
    int c = size_arg(argc, argv, 2, 5);
    int h = size_arg(argc, argv, 3, 7);
    int w = size_arg(argc, argv, 4, 9);
    size_t size = (size_t)n * c * h * w;
    real *src = make_reals(size), *nhwc = make_reals(size), *back = make_reals(size);

    fill(src, size, 1);
    TIMED(kernel_permute_4d(n, c, h, w, (void *)src, (void *)nhwc, (void *)back));
    print_checksum("nhwc", nhwc, size);
    print_checksum("back", back, size);
    free(src);
    free(nhwc);
    free(back);
    return 0;
}
#endif
