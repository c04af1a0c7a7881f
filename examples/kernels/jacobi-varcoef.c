/* Weighted Jacobi with variable coefficients and a convergence history: the
 * sum of squared updates of each sweep, an imperfect nest with a reduction.
 * sizes: small nt=6 n=36 m=42 | large nt=30 n=1200 m=1200
 * types: f64
 */
#include "kernels.h"

void kernel_jacobi_varcoef(int nt, int n, int m, real a[n][m], real u[n][m], real v[n][m], real res[nt])
{
    int t, i, j;
#pragma scop
    for (t = 0; t < nt; t++) {
        res[t] = 0;
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++) {
                v[i][j] = (a[i - 1][j] * u[i - 1][j] + a[i + 1][j] * u[i + 1][j]
                           + a[i][j - 1] * u[i][j - 1] + a[i][j + 1] * u[i][j + 1])
                          / (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
                res[t] += (v[i][j] - u[i][j]) * (v[i][j] - u[i][j]);
            }
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++)
                u[i][j] = v[i][j];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 6);
    int n = size_arg(argc, argv, 2, 36);
    int m = size_arg(argc, argv, 3, 42);
    size_t size = (size_t)n * m;
    real *a = make_reals(size), *u = make_reals(size), *v = make_reals(size), *res = make_reals(nt);

    fill(a, size, 1);
    fill(u, size, 2);
    TIMED(kernel_jacobi_varcoef(nt, n, m, (void *)a, (void *)u, (void *)v, res));
    print_checksum("u", u, size);
    print_checksum("res", res, nt);
    free(a);
    free(u);
    free(v);
    free(res);
    return 0;
}
#endif
