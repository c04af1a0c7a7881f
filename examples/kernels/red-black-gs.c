/* Red-black Gauss-Seidel for the Poisson equation: each colour is a step-2
 * loop whose start depends on the parity of the row.
 * sizes: small nt=6 n=40 | large nt=40 n=1500
 * types: f64 f32
 */
#include "kernels.h"

void kernel_red_black_gs(int nt, int n, real u[n][n], const real f[n][n])
{
    int t, i, j;
#pragma scop
    for (t = 0; t < nt; t++) {
        for (i = 1; i < n - 1; i++)
            for (j = 1 + i % 2; j < n - 1; j += 2)
                u[i][j] = (real)0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
        for (i = 1; i < n - 1; i++)
            for (j = 1 + (i + 1) % 2; j < n - 1; j += 2)
                u[i][j] = (real)0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 6);
    int n = size_arg(argc, argv, 2, 40);
    size_t nn = (size_t)n * n;
    real *u = make_reals(nn), *f = make_reals(nn);

    fill(u, nn, 1);
    fill(f, nn, 2);
    TIMED(kernel_red_black_gs(nt, n, (void *)u, (void *)f));
    print_checksum("u", u, nn);
    free(u);
    free(f);
    return 0;
}
#endif
