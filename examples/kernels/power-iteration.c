/* Power iteration: two regions inside an ordinary loop, with a square root and
 * a guard in plain C between them.
 * sizes: small nt=5 n=60 | large nt=10 n=3000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_power_iteration(int nt, int n, real A[n][n], real x[n], real y[n], real lambda[1])
{
    for (int t = 0; t < nt; t++) {
        real norm = 0;
#pragma scop
        for (int i = 0; i < n; i++) {
            y[i] = 0;
            for (int j = 0; j < n; j++)
                y[i] += A[i][j] * x[j];
        }
        for (int i = 0; i < n; i++)
            norm += y[i] * y[i];
#pragma endscop
        if (norm <= 0)
            return;
        norm = SQRT(norm);
        lambda[0] = norm;
#pragma scop
        for (int i = 0; i < n; i++)
            x[i] = y[i] / norm;
#pragma endscop
    }
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 5);
    int n = size_arg(argc, argv, 2, 60);
    size_t nn = (size_t)n * n;
    real *A = make_reals(nn), *x = make_reals(n), *y = make_reals(n), lambda[1] = {0};

    fill_spd(A, n);
    fill(x, n, 1);
    TIMED(kernel_power_iteration(nt, n, (void *)A, x, y, lambda));
    print_checksum("x", x, n);
    print_checksum("lambda", lambda, 1);
    free(A);
    free(x);
    free(y);
    return 0;
}
#endif
