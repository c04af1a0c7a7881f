/* seidel-2d: Gauss-Seidel nine-point averaging of the inner points of an
 * n x n grid, in place and in row order, so that four of the nine values are
 * already those of the current sweep; tsteps sweeps.
 * sizes: small tsteps=40 n=120 | large tsteps=500 n=2000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_seidel_2d(int tsteps, int n, real a[n][n])
{
#pragma scop
    for (int t = 0; t <= tsteps - 1; t++)
        for (int i = 1; i <= n - 2; i++)
            for (int j = 1; j <= n - 2; j++)
                a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1]
                           + a[i][j - 1] + a[i][j] + a[i][j + 1]
                           + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9;
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int tsteps = (int)size_arg(argc, argv, 1, 40);
    int n = (int)size_arg(argc, argv, 2, 120);
    size_t nn = (size_t)n * n;
    real *a = make_reals(nn);

    fill(a, nn, 1);
    TIMED(kernel_seidel_2d(tsteps, n, (void *)a));
    print_checksum("a", a, nn);
    free(a);
    return 0;
}
#endif
