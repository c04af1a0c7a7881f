/* trisolv: forward substitution, L x = b with L lower triangular n x n;
 *     x_i = (b_i - sum_{j<i} L_ij x_j) / L_ii.
 * sizes: small n=120 | large n=2000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_trisolv(int n, real L[n][n], real x[n], real b[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j <= i - 1; j++)
            x[i] -= L[i][j] * x[j];
        x[i] = x[i] / L[i][i];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 120);
    size_t nL = (size_t)n * n;
    real *L = make_reals(nL), *x = make_reals(n), *b = make_reals(n);

    fill_spd(L, n);
    fill(b, n, 2);
    TIMED(kernel_trisolv(n, (void *)L, x, b));
    print_checksum("x", x, n);
    free(L);
    free(x);
    free(b);
    return 0;
}
#endif
