/* 5 x 5 convolution of "same" size with zero padding: the tap loops are cut to
 * the image by min / max bounds (static inline functions of the iterators).
 * sizes: small n=35 m=44 | large n=1800 m=1800
 * types: f64 f32 i32
 */
#include "kernels.h"

static inline int imin(int a, int b) { return a < b ? a : b; }
static inline int imax(int a, int b) { return a > b ? a : b; }

void kernel_conv2d_same(int n, int m, real in[n][m], real f[5][5], real out[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            real s = 0;
            for (int p = imax(0, i - 2); p <= imin(n - 1, i + 2); p++)
                for (int q = imax(0, j - 2); q <= imin(m - 1, j + 2); q++)
                    s += in[p][q] * f[p - i + 2][q - j + 2];
            out[i][j] = s;
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 35);
    int m = size_arg(argc, argv, 2, 44);
    size_t size = (size_t)n * m;
    real *in = make_reals(size), *f = make_reals(25), *out = make_reals(size);

    fill(in, size, 1);
    fill(f, 25, 2);
    TIMED(kernel_conv2d_same(n, m, (void *)in, (void *)f, (void *)out));
    print_checksum("out", out, size);
    free(in);
    free(f);
    free(out);
    return 0;
}
#endif
