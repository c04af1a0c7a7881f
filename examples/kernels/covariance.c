/* covariance: sample covariance of m variables over n samples (rows of X),
 *     mean_j = sum_i X_ij / n,
 *     S_jk = sum_i (X_ij - mean_j)(X_ik - mean_k) / (n - 1).
 * X is centred in place; fewer than two samples give zeros.
 * sizes: small m=80 n=100 | large m=1200 n=1400
 * types: f64 f32
 */
#include "kernels.h"

void kernel_covariance(int m, int n, real X[n][m], real S[m][m], real mean[m])
{
    int i, j, k;
    real count = n > 0 ? (real)n : (real)1;
    real freedom = n > 1 ? (real)(n - 1) : (real)1;

#pragma scop
    for (j = 0; j < m; j++) {
        mean[j] = 0;
        for (i = 0; i < n; i++)
            mean[j] = mean[j] + X[i][j];
        mean[j] = mean[j] / count;
    }

    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            X[i][j] = X[i][j] - mean[j];

    for (j = 0; j < m; j++)
        for (k = j; k < m; k++) {
            S[j][k] = 0;
            for (i = 0; i < n; i++)
                S[j][k] = S[j][k] + X[i][j] * X[i][k];
            S[j][k] = S[j][k] / freedom;
            S[k][j] = S[j][k];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int m = (int)size_arg(argc, argv, 1, 80);
    int n = (int)size_arg(argc, argv, 2, 100);
    size_t nX = (size_t)n * m, nS = (size_t)m * m;
    real *X = make_reals(nX), *S = make_reals(nS), *mean = make_reals(m);

    fill(X, nX, 1);
    TIMED(kernel_covariance(m, n, (void *)X, (void *)S, mean));
    print_checksum("mean", mean, m);
    print_checksum("X", X, nX);
    print_checksum("S", S, nS);
    free(X);
    free(S);
    free(mean);
    return 0;
}
#endif
