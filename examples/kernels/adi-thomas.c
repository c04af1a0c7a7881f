/* Alternating-direction implicit diffusion: Thomas solves along all rows,
 * then along all columns, with stored elimination factors.
 * sizes: small nt=4 n=30 | large nt=10 n=1000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_adi_thomas(int nt, int n, real lambda, real u[n][n], real w[n][n], real g[n + 1])
{
    int t, i, j;
#pragma scop
    for (t = 0; t < nt; t++) {
        /* factors of the constant matrix  -lambda, 1 + 2 lambda, -lambda */
        g[0] = lambda / (1 + 2 * lambda);
        for (i = 1; i < n; i++)
            g[i] = lambda / (1 + 2 * lambda - lambda * g[i - 1]);
        for (i = 0; i < n; i++) {
            w[i][0] = u[i][0] / (1 + 2 * lambda);
            for (j = 1; j < n; j++)
                w[i][j] = (u[i][j] + lambda * w[i][j - 1]) / (1 + 2 * lambda - lambda * g[j - 1]);
            u[i][n - 1] = w[i][n - 1];
            for (j = n - 2; j >= 0; j--)
                u[i][j] = w[i][j] + g[j] * u[i][j + 1];
        }
        for (j = 0; j < n; j++) {
            w[0][j] = u[0][j] / (1 + 2 * lambda);
            for (i = 1; i < n; i++)
                w[i][j] = (u[i][j] + lambda * w[i - 1][j]) / (1 + 2 * lambda - lambda * g[i - 1]);
            u[n - 1][j] = w[n - 1][j];
            for (i = n - 2; i >= 0; i--)
                u[i][j] = w[i][j] + g[i] * u[i + 1][j];
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 4);
    int n = size_arg(argc, argv, 2, 30);
    size_t nn = (size_t)n * n;
    real *u = make_reals(nn), *w = make_reals(nn), *g = make_reals((size_t)n + 1);

    fill(u, nn, 1);
    TIMED(kernel_adi_thomas(nt, n, (real)0.5, (void *)u, (void *)w, g));
    print_checksum("u", u, nn);
    print_checksum("g", g, n);
    free(u);
    free(w);
    free(g);
    return 0;
}
#endif
