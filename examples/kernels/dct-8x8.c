/* Blocked 8x8 discrete cosine transform, Y = C X C^T for each block, with a
 * local fixed-size temporary and a coefficient table.
 * sizes: small bh=5 bw=7 | large bh=400 bw=400
 * types: f64 f32
 */
#include "kernels.h"

#define B 8

void kernel_dct_8x8(int bh, int bw, const real c[B][B],
                    const real x[B * bh][B * bw], real y[B * bh][B * bw])
{
    real t[B][B];
    int bi, bj, i, j, k;

#pragma scop
    for (bi = 0; bi < bh; bi++)
        for (bj = 0; bj < bw; bj++) {
            for (i = 0; i < B; i++)
                for (j = 0; j < B; j++) {
                    t[i][j] = 0;
                    for (k = 0; k < B; k++)
                        t[i][j] += c[i][k] * x[B * bi + k][B * bj + j];
                }
            for (i = 0; i < B; i++)
                for (j = 0; j < B; j++) {
                    y[B * bi + i][B * bj + j] = 0;
                    for (k = 0; k < B; k++)
                        y[B * bi + i][B * bj + j] += t[i][k] * c[j][k];
                }
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int bh = size_arg(argc, argv, 1, 5);
    int bw = size_arg(argc, argv, 2, 7);
    size_t n = (size_t)bh * bw * B * B;
    real *c = make_reals(B * B);
    real *x = make_reals(n);
    real *y = make_reals(n);
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++)
            c[i * B + j] = (real)(sqrt((i ? 2.0 : 1.0) / B) * cos(3.14159265358979 * i * (2 * j + 1) / (2.0 * B)));
    fill(x, n, 1);
    TIMED(kernel_dct_8x8(bh, bw, (void *)c, (void *)x, (void *)y));
    print_checksum("y", y, n);
    free(c);
    free(x);
    free(y);
    return 0;
}
#endif
