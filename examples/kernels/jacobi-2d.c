/* jacobi-2d: five-point averaging of the inner points of an n x n grid,
 *     b_ij := (a_ij + its four neighbours in a) / 5, then a from b likewise,
 * tsteps times.
 * sizes: small tsteps=40 n=90 | large tsteps=500 n=1300
 * types: f64 f32
 */
#include "kernels.h"

void kernel_jacobi_2d(int tsteps, int n, real a[n][n], real b[n][n])
{
#pragma scop
    for (int t = 0; t < tsteps; t++) {
        for (int i = 1; i <= n - 2; i++)
            for (int j = 1; j <= n - 2; j++)
                b[i][j] = (real)0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1]
                                       + a[i + 1][j] + a[i - 1][j]);
        for (int i = 1; i <= n - 2; i++)
            for (int j = 1; j <= n - 2; j++)
                a[i][j] = (real)0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1]
                                       + b[i + 1][j] + b[i - 1][j]);
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int tsteps = (int)size_arg(argc, argv, 1, 40);
    int n = (int)size_arg(argc, argv, 2, 90);
    size_t nn = (size_t)n * n;
    real *a = make_reals(nn), *b = make_reals(nn);

    fill(a, nn, 1);
    fill(b, nn, 2);
    TIMED(kernel_jacobi_2d(tsteps, n, (void *)a, (void *)b));
    print_checksum("a", a, nn);
    print_checksum("b", b, nn);
    free(a);
    free(b);
    return 0;
}
#endif
