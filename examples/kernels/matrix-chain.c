/* Matrix-chain ordering: M[i][j] = min over k of M[i][k] + M[k+1][j] +
 * p[i] p[k+1] p[j+1], by growing interval length, int64_t costs.
 * sizes: small n=50 | large n=1100
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_matrix_chain(int n, const int32_t p[n + 1], int64_t M[n][n])
{
    int len, i, k;
#pragma scop
    for (i = 0; i < n; i++)
        M[i][i] = 0;
    for (len = 1; len < n; len++)
        for (i = 0; i < n - len; i++) {
            M[i][i + len] = INT64_MAX;
            for (k = i; k < i + len; k++)
                M[i][i + len] = MIN(M[i][i + len],
                                    M[i][k] + M[k + 1][i + len]
                                        + (int64_t)p[i] * p[k + 1] * p[i + len + 1]);
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 50);
    size_t nn = (size_t)n * n;
    int32_t *p = MAKE(int32_t, (size_t)n + 1);
    int64_t *M = MAKE(int64_t, nn);

    FILL_WITH(p, (size_t)n + 1, 1, (int32_t)(u % 100 + 1));
    TIMED(kernel_matrix_chain(n, p, (void *)M));
    CHECKSUM_OF("M", M, nn);
    free(p);
    free(M);
    return 0;
}
#endif
