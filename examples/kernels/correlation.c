/* correlation: Pearson correlation of m variables over n samples (rows of X),
 *     mean_j = sum_i X_ij / n,   dev_j = sqrt(sum_i (X_ij - mean_j)^2 / n),
 *     R_jk = sum_i (X_ij - mean_j)(X_ik - mean_k) / (n dev_j dev_k),  R_jj = 1.
 * X is standardised in place; a (nearly) constant variable gets deviation 1.
 * sizes: small m=80 n=100 | large m=1200 n=1400
 * types: f64 f32
 */
#include "kernels.h"

void kernel_correlation(int m, int n, real X[n][m], real R[m][m], real mean[m], real dev[m])
{
    const real count = n > 0 ? (real)n : (real)1;
    const real tiny = (real)0.001;

#pragma scop
    for (int j = 0; j < m; j++) {
        mean[j] = 0;
        for (int i = 0; i < n; i++)
            mean[j] += X[i][j];
        mean[j] /= count;
    }

    for (int j = 0; j < m; j++) {
        dev[j] = 0;
        for (int i = 0; i < n; i++)
            dev[j] += (X[i][j] - mean[j]) * (X[i][j] - mean[j]);
        dev[j] /= count;
        dev[j] = SQRT(dev[j]);
        dev[j] = dev[j] <= tiny ? 1 : dev[j];
    }

    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            X[i][j] -= mean[j];
            X[i][j] /= SQRT(count) * dev[j];
        }

    for (int j = 0; j < m; j++) {
        R[j][j] = 1;
        for (int k = j + 1; k < m; k++) {
            R[j][k] = 0;
            for (int i = 0; i < n; i++)
                R[j][k] += X[i][j] * X[i][k];
            R[k][j] = R[j][k];
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int m = (int)size_arg(argc, argv, 1, 80);
    int n = (int)size_arg(argc, argv, 2, 100);
    size_t nX = (size_t)n * m, nR = (size_t)m * m;
    real *X = make_reals(nX), *R = make_reals(nR), *mean = make_reals(m), *dev = make_reals(m);

    fill(X, nX, 1);
    TIMED(kernel_correlation(m, n, (void *)X, (void *)R, mean, dev));
    print_checksum("mean", mean, m);
    print_checksum("dev", dev, m);
    print_checksum("X", X, nX);
    print_checksum("R", R, nR);
    free(X);
    free(R);
    free(mean);
    free(dev);
    return 0;
}
#endif
