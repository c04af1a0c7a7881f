/* Harris corner response in single precision: gradients, products, 3x3 box
 * sums, determinant minus k * trace^2.  A pipeline of four stages.
 * sizes: small n=40 m=52 | large n=2000 m=2200
 * types: fixed
 */
#include "kernels.h"

void kernel_harris(int n, int m, float img[n][m], float ix[n][m], float iy[n][m],
                   float sxx[n][m], float syy[n][m], float sxy[n][m], float out[n][m])
{
    int i, j, di, dj;
    const float k = 0.04f;

#pragma scop
    for (i = 1; i < n - 1; i++)
        for (j = 1; j < m - 1; j++) {
            ix[i][j] = (img[i - 1][j + 1] - img[i - 1][j - 1]
                        + 2.0f * (img[i][j + 1] - img[i][j - 1])
                        + img[i + 1][j + 1] - img[i + 1][j - 1]) / 12.0f;
            iy[i][j] = (img[i + 1][j - 1] - img[i - 1][j - 1]
                        + 2.0f * (img[i + 1][j] - img[i - 1][j])
                        + img[i + 1][j + 1] - img[i - 1][j + 1]) / 12.0f;
        }
    for (i = 2; i < n - 2; i++)
        for (j = 2; j < m - 2; j++) {
            sxx[i][j] = 0.0f;
            syy[i][j] = 0.0f;
            sxy[i][j] = 0.0f;
            for (di = -1; di <= 1; di++)
                for (dj = -1; dj <= 1; dj++) {
                    sxx[i][j] += ix[i + di][j + dj] * ix[i + di][j + dj];
                    syy[i][j] += iy[i + di][j + dj] * iy[i + di][j + dj];
                    sxy[i][j] += ix[i + di][j + dj] * iy[i + di][j + dj];
                }
        }
    for (i = 2; i < n - 2; i++)
        for (j = 2; j < m - 2; j++)
            out[i][j] = sxx[i][j] * syy[i][j] - sxy[i][j] * sxy[i][j]
                        - k * (sxx[i][j] + syy[i][j]) * (sxx[i][j] + syy[i][j]);
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 40);
    int m = size_arg(argc, argv, 2, 52);
    size_t size = (size_t)n * m;
    float *img = MAKE(float, size);
    float *ix = MAKE(float, size);
    float *iy = MAKE(float, size);
    float *sxx = MAKE(float, size);
    float *syy = MAKE(float, size);
    float *sxy = MAKE(float, size);
    float *out = MAKE(float, size);
    FILL_WITH(img, size, 1, (float)(u % 256) / 256.0f);
    TIMED(kernel_harris(n, m, (void *)img, (void *)ix, (void *)iy, (void *)sxx,
                        (void *)syy, (void *)sxy, (void *)out));
    CHECKSUM_OF("ix", ix, size);
    CHECKSUM_OF("iy", iy, size);
    CHECKSUM_OF("sxx", sxx, size);
    CHECKSUM_OF("syy", syy, size);
    CHECKSUM_OF("sxy", sxy, size);
    CHECKSUM_OF("out", out, size);
    free(img);
    free(ix);
    free(iy);
    free(sxx);
    free(syy);
    free(sxy);
    free(out);
    return 0;
}
#endif
