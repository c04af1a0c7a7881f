/* Pad an image by P pixels on each side, reflecting at the edges: a chain of
 * affine if / else if picks the source pixel.  Needs n, m > P to do anything
 * (a guard on the parameters alone).
 * sizes: small n=40 m=30 | large n=5000 m=5000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

#define P 4

void kernel_mirror_pad(int n, int m, real src[n][m], real dst[n + 2 * P][m + 2 * P])
{
    int i, j;
#pragma scop
    if (n > P && m > P) {
        for (i = 0; i < n + 2 * P; i++) {
            for (j = P; j < m + P; j++) {
                if (i < P)
                    dst[i][j] = src[P - i][j - P];
                else if (i < n + P)
                    dst[i][j] = src[i - P][j - P];
                else
                    dst[i][j] = src[2 * n + P - 2 - i][j - P];
            }
            for (j = 0; j < P; j++) {
                dst[i][j] = dst[i][2 * P - j];
                dst[i][m + P + j] = dst[i][m + P - 2 - j];
            }
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 40);
    int m = size_arg(argc, argv, 2, 30);
    size_t ns = (size_t)n * m;
    size_t nd = (size_t)(n + 2 * P) * (m + 2 * P);
    real *src = make_reals(ns);
    real *dst = make_reals(nd);
    fill(src, ns, 1);
    TIMED(kernel_mirror_pad(n, m, (void *)src, (void *)dst));
    print_checksum("dst", dst, nd);
    free(src);
    free(dst);
    return 0;
}
#endif
