/* dct-rows: each row of m times sixteen samples is transformed block by block (DCT-II), through a scratch line that
 * all blocks share; the scratch line and the last block's mean are looked at afterwards.
 * sizes: small m=60 n=20 | large m=600 n=400
 * types: f64 f32
 */
#include "kernels.h"

real kernel_dct_rows(int m, int n, real X[m][n][16], real basis[16][16], real Y[m][n][16], real line[16])
{
    real mean = 0;
#pragma scop
    for (int i = 0; i < m; ++i)
        for (int b = 0; b < n; ++b) {
            mean = 0;
            for (int k = 0; k < 16; ++k)
                mean += X[i][b][k];
            mean = mean / 16;
            for (int k = 0; k < 16; ++k)
                line[k] = X[i][b][k] - mean;
            for (int u = 0; u < 16; ++u) {
                Y[i][b][u] = 0;
                for (int k = 0; k < 16; ++k)
                    Y[i][b][u] += basis[u][k] * line[k];
            }
        }
#pragma endscop
    return mean;
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int m = (int)size_arg(argc, argv, 1, 60);
    int n = (int)size_arg(argc, argv, 2, 20);
    size_t all = (size_t)m * n * 16;
    real *X = make_reals(all), *basis = make_reals(256), *Y = make_reals(all), *line = make_reals(16), mean;

    fill(X, all, 1);
    fill(basis, 256, 2);
    TIMED(mean = kernel_dct_rows(m, n, (void *)X, (void *)basis, (void *)Y, line));
    print_checksum("mean", &mean, 1);
    print_checksum("line", line, 16);
    print_checksum("Y", Y, all);
    free(X);
    free(basis);
    free(Y);
    free(line);
    return 0;
}
#endif
