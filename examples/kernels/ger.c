/* Rank-1 update A += alpha x y^T, then the rank-1 downdate of the transpose
 * pattern A -= y' x'^T restricted to the upper triangle.
 * sizes: small n=60 m=75 | large n=8000 m=8000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_ger(int n, int m, real alpha, real A[n][m], real x[n], real y[m])
{
    int i, j;
#pragma scop
    for (i = 0; i != n; i++)
        for (j = 0; j != m; j++)
            A[i][j] += alpha * x[i] * y[j];
    for (i = 0; i < n; i++)
        for (j = i; j < m; j++)
            A[i][j] -= y[j] * x[i];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 60);
    int m = size_arg(argc, argv, 2, 75);
    size_t nA = (size_t)n * m;
    real *A = make_reals(nA), *x = make_reals(n), *y = make_reals(m);

    fill(A, nA, 1);
    fill(x, n, 2);
    fill(y, m, 3);
    TIMED(kernel_ger(n, m, (real)3, (void *)A, x, y));
    print_checksum("A", A, nA);
    free(A);
    free(x);
    free(y);
    return 0;
}
#endif
