/* Diffusion on a ring with a parametric length: the wrap-around rows are
 * split off by conditions, three buffers rotate by t % 3.
 * sizes: small nt=20 n=64 | large nt=500 n=200000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_ring_1d(int nt, int n, real u[3][n])
{
    int t, i;
#pragma scop
    for (t = 1; t < nt; t++)
        for (i = 0; i < n; i++) {
            if (i == 0)
                u[(t + 1) % 3][i] = (u[t % 3][n - 1] + u[t % 3][i] + u[(t + 2) % 3][i]) / 3;
            else if (i == n - 1)
                u[(t + 1) % 3][i] = (u[t % 3][i] + u[t % 3][0] + u[(t + 2) % 3][i]) / 3;
            else
                u[(t + 1) % 3][i] = (u[t % 3][i - 1] + u[t % 3][i + 1] + u[(t + 2) % 3][i]) / 3;
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 20);
    int n = size_arg(argc, argv, 2, 64);
    size_t size = 3 * (size_t)n;
    real *u = make_reals(size);

    fill(u, size, 1);
    TIMED(kernel_ring_1d(nt, n, (void *)u));
    print_checksum("u", u, size);
    free(u);
    return 0;
}
#endif
