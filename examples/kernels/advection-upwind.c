/* Upwind advection in two dimensions, in place: sweeping from the far corner
 * down so that each update reads old upwind values.
 * sizes: small nt=8 n=45 m=50 | large nt=50 n=1000 m=1000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_advection_upwind(int nt, int n, int m, real cx, real cy, real q[n][m])
{
    int t, i, j;
#pragma scop
    for (t = 0; t < nt; t++)
        for (i = n - 1; i >= 1; i--)
            for (j = m - 1; j >= 1; j--)
                q[i][j] = q[i][j] - cx * (q[i][j] - q[i - 1][j]) - cy * (q[i][j] - q[i][j - 1]);
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 8);
    int n = size_arg(argc, argv, 2, 45);
    int m = size_arg(argc, argv, 3, 50);
    size_t size = (size_t)n * m;
    real *q = make_reals(size);

    fill(q, size, 1);
    TIMED(kernel_advection_upwind(nt, n, m, (real)0.3, (real)0.4, (void *)q));
    print_checksum("q", q, size);
    free(q);
    return 0;
}
#endif
