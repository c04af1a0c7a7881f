/* Filter of 3 x 3 over an image in one piece, with zeros around it: a test in the innermost loop.
 * sizes: small n=35 m=44 | large n=1500 m=2000
 * types: f32 f64
 */
#include "kernels.h"

void kernel_conv2d_padded(int n, int m, const real *in, const real f[9], real *out)
{
#pragma scop
    for (int y = 0; y < n; y++)
        for (int x = 0; x < m; x++) {
            real sum = 0;
            for (int dy = 0; dy < 3; dy++)
                for (int dx = 0; dx < 3; dx++) {
                    int v = y + dy - 1, u = x + dx - 1;
                    if (v >= 0 && v < n && u >= 0 && u < m)
                        sum += in[v * m + u] * f[dy * 3 + dx];
                }
            out[y * m + x] = sum;
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 35);
    int m = size_arg(argc, argv, 2, 44);
    size_t size = (size_t)n * m;
    real *in = make_reals(size), *f = make_reals(9), *out = make_reals(size);

    fill(in, size, 1);
    fill(f, 9, 2);
    TIMED(kernel_conv2d_padded(n, m, in, f, out));
    print_checksum("out", out, size);
    free(in);
    free(f);
    free(out);
    return 0;
}
#endif
