/* Layer normalisation in single precision: mean, variance, scale and shift,
 * with sqrtf and row statistics kept; nothing to do when m is zero.
 * sizes: small n=32 m=48 | large n=20000 m=1024
 * types: fixed
 */
#include "kernels.h"

void kernel_layernorm(int n, int m, float eps, const float x[n][m], const float gamma[m],
                      const float beta[m], float mean[n], float rstd[n], float y[n][m])
{
    int i, j;
#pragma scop
    if (m > 0)
        for (i = 0; i < n; i++) {
            mean[i] = 0.0f;
            for (j = 0; j < m; j++)
                mean[i] += x[i][j];
            mean[i] = mean[i] / m;
            rstd[i] = 0.0f;
            for (j = 0; j < m; j++)
                rstd[i] += (x[i][j] - mean[i]) * (x[i][j] - mean[i]);
            rstd[i] = 1.0f / sqrtf(rstd[i] / (float)m + eps);
            for (j = 0; j < m; j++)
                y[i][j] = (x[i][j] - mean[i]) * rstd[i] * gamma[j] + beta[j];
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 32);
    int m = size_arg(argc, argv, 2, 48);
    size_t size = (size_t)n * m;
    float *x = MAKE(float, size), *y = MAKE(float, size), *gamma = MAKE(float, m);
    float *beta = MAKE(float, m), *mean = MAKE(float, n), *rstd = MAKE(float, n);

    FILL_WITH(x, size, 1, (float)(u % 1000) / 500.0f);
    FILL_WITH(gamma, m, 2, (float)(u % 1000) / 1000.0f + 0.5f);
    FILL_WITH(beta, m, 3, (float)(u % 1000) / 1000.0f);
    TIMED(kernel_layernorm(n, m, 1e-5f, (void *)x, gamma, beta, mean, rstd, (void *)y));
    CHECKSUM_OF("mean", mean, n);
    CHECKSUM_OF("rstd", rstd, n);
    CHECKSUM_OF("y", y, size);
    free(x);
    free(y);
    free(gamma);
    free(beta);
    free(mean);
    free(rstd);
    return 0;
}
#endif
