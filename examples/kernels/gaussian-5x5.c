/* Separable 5x5 Gaussian (1 4 6 4 1)/16: a horizontal pass into tmp, then a
 * vertical one.  Borders of two pixels stay untouched.
 * sizes: small n=64 m=48 | large n=3000 m=3500
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_gaussian_5x5(int n, int m, real (*restrict src)[m],
                         real (*restrict tmp)[m], real (*restrict dst)[m])
{
    int i, j;

#pragma scop
    for (i = 0; i < n; i++)
        for (j = 2; j < m - 2; j++)
            tmp[i][j] = (src[i][j - 2] + 4 * src[i][j - 1] + 6 * src[i][j]
                         + 4 * src[i][j + 1] + src[i][j + 2]) / 16;
    for (i = 2; i < n - 2; i++)
        for (j = 2; j < m - 2; j++)
            dst[i][j] = (tmp[i - 2][j] + 4 * tmp[i - 1][j] + 6 * tmp[i][j]
                         + 4 * tmp[i + 1][j] + tmp[i + 2][j]) / 16;
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 64);
    int m = size_arg(argc, argv, 2, 48);
    size_t size = (size_t)n * m;
    real *src = make_reals(size);
    real *tmp = make_reals(size);
    real *dst = make_reals(size);
    fill(src, size, 1);
    TIMED(kernel_gaussian_5x5(n, m, (void *)src, (void *)tmp, (void *)dst));
    print_checksum("tmp", tmp, size);
    print_checksum("dst", dst, size);
    free(src);
    free(tmp);
    free(dst);
    return 0;
}
#endif
