/* Softmax of every row: maximum by ?:, exponentials, sum, division.
 * sizes: small n=30 m=40 | large n=8000 m=1000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_softmax_rows(int n, int m, const real x[n][m], real y[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        real top = 0;
        real sum = 0;
        for (int j = 0; j < m; j++)
            top = x[i][j] > top ? x[i][j] : top;
        for (int j = 0; j < m; j++) {
            y[i][j] = EXP(x[i][j] - top);
            sum += y[i][j];
        }
        for (int j = 0; j < m; j++)
            y[i][j] /= sum;
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 30);
    int m = size_arg(argc, argv, 2, 40);
    size_t size = (size_t)n * m;
    real *x = make_reals(size), *y = make_reals(size);

    fill(x, size, 1);
    TIMED(kernel_softmax_rows(n, m, (void *)x, (void *)y));
    print_checksum("y", y, size);
    free(x);
    free(y);
    return 0;
}
#endif
