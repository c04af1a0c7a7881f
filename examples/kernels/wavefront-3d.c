/* 3-D recurrence (pairwise-alignment cube of three sequences): the maximum of
 * seven predecessors, int32_t scores.
 * sizes: small n=18 m=20 p=22 | large n=200 m=220 p=240
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_wavefront_3d(int n, int m, int p, const int8_t x[n], const int8_t y[m],
                         const int8_t z[p], int32_t S[n + 1][m + 1][p + 1])
{
    int i, j, k, best;
#pragma scop
    for (i = 1; i <= n; i++)
        for (j = 1; j <= m; j++)
            for (k = 1; k <= p; k++) {
                best = S[i - 1][j - 1][k - 1]
                       + (x[i - 1] == y[j - 1]) + (y[j - 1] == z[k - 1]) + (x[i - 1] == z[k - 1]);
                best = MAX(best, S[i - 1][j - 1][k] + (x[i - 1] == y[j - 1]) - 1);
                best = MAX(best, S[i - 1][j][k - 1] + (x[i - 1] == z[k - 1]) - 1);
                best = MAX(best, S[i][j - 1][k - 1] + (y[j - 1] == z[k - 1]) - 1);
                best = MAX(best, S[i - 1][j][k] - 2);
                best = MAX(best, S[i][j - 1][k] - 2);
                best = MAX(best, S[i][j][k - 1] - 2);
                S[i][j][k] = best;
            }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 18);
    int m = size_arg(argc, argv, 2, 20);
    int p = size_arg(argc, argv, 3, 22);
    size_t size = ((size_t)n + 1) * (m + 1) * (p + 1);
    int8_t *x = MAKE(int8_t, n), *y = MAKE(int8_t, m), *z = MAKE(int8_t, p);
    int32_t *S = MAKE(int32_t, size);

    FILL_WITH(x, n, 1, (int8_t)(u % 4));
    FILL_WITH(y, m, 2, (int8_t)(u % 4));
    FILL_WITH(z, p, 3, (int8_t)(u % 4));
    TIMED(kernel_wavefront_3d(n, m, p, x, y, z, (void *)S));
    CHECKSUM_OF("S", S, size);
    free(x);
    free(y);
    free(z);
    free(S);
    return 0;
}
#endif
