/* Wave equation in one dimension, leapfrog on a full space-time array:
 * u[t+1][i] from u[t] and u[t-1]; nothing is overwritten.
 * sizes: small nt=40 n=90 | large nt=1500 n=15000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_wave_1d(int nt, int n, real c2, real u[nt + 2][n])
{
#pragma scop
    for (int t = 1; t <= nt; t++)
        for (int i = 1; i <= n - 2; i++)
            u[t + 1][i] = 2 * u[t][i] - u[t - 1][i] + c2 * (u[t][i + 1] - 2 * u[t][i] + u[t][i - 1]);
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 40);
    int n = size_arg(argc, argv, 2, 90);
    size_t size = ((size_t)nt + 2) * n;
    real *u = make_reals(size);

    fill(u, n, 1);
    memcpy(u + n, u, (size_t)n * sizeof(real));
    TIMED(kernel_wave_1d(nt, n, (real)0.25, (void *)u));
    print_checksum("u", u, size);
    free(u);
    return 0;
}
#endif
