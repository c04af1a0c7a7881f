/* atax: y := A^T (A x) for an m x n matrix A, row by row of A;
 *     t_i := sum_j A_ij x_j,   y_j := sum_i A_ij t_i.
 * sizes: small m=116 n=124 | large m=1900 n=2100
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_atax(int m, int n, real A[m][n], real x[n], real y[n], real t[m])
{
#pragma scop
    for (int j = 0; j < n; ++j)
        y[j] = 0;
    for (int i = 0; i < m; ++i) {
        t[i] = 0;
        for (int j = 0; j < n; ++j)
            t[i] = t[i] + A[i][j] * x[j];
        for (int j = 0; j < n; ++j)
            y[j] = y[j] + A[i][j] * t[i];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int m = (int)size_arg(argc, argv, 1, 116);
    int n = (int)size_arg(argc, argv, 2, 124);
    size_t nA = (size_t)m * n;
    real *A = make_reals(nA), *x = make_reals(n), *y = make_reals(n), *t = make_reals(m);

    fill(A, nA, 1);
    fill(x, n, 2);
    TIMED(kernel_atax(m, n, (void *)A, x, y, t));
    print_checksum("t", t, m);
    print_checksum("y", y, n);
    free(A);
    free(x);
    free(y);
    free(t);
    return 0;
}
#endif
