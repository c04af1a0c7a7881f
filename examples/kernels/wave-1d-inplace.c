/* The same wave with three vectors and copies: classic time-skewing shape.
 * sizes: small nt=30 n=100 | large nt=500 n=100000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_wave_1d_inplace(int nt, int n, real c2, real prev[n], real cur[n], real next[n])
{
    int t, i;
#pragma scop
    for (t = 0; t < nt; t++) {
        for (i = 1; i < n - 1; i++)
            next[i] = 2 * cur[i] - prev[i] + c2 * (cur[i + 1] - 2 * cur[i] + cur[i - 1]);
        for (i = 1; i < n - 1; i++) {
            prev[i] = cur[i];
            cur[i] = next[i];
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 30);
    int n = size_arg(argc, argv, 2, 100);
    real *prev = make_reals(n), *cur = make_reals(n), *next = make_reals(n);

    fill(prev, n, 1);
    fill(cur, n, 1);
    TIMED(kernel_wave_1d_inplace(nt, n, (real)0.25, prev, cur, next));
    print_checksum("prev", prev, n);
    print_checksum("cur", cur, n);
    free(prev);
    free(cur);
    free(next);
    return 0;
}
#endif
