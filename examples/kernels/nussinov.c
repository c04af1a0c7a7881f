/* nussinov: the most base pairs an RNA strand can form without crossings.
 * best_ij covers bases i .. j and is the largest of best_i,j-1, best_i+1,j,
 * best_i+1,j-1 + pair(i, j), and best_ik + best_k+1,j over i < k < j; bases a, b
 * (coded 0..3) pair when a + b = 3, neighbours never do.
 * sizes: small n=180 | large n=2500
 * types: i32 f64 f32
 */
#include "kernels.h"

#define PAIR(a, b) ((a) + (b) == 3 ? 1 : 0)

void kernel_nussinov(int n, int base[n], real best[n][n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) {
            best[i][j] = MAX(best[i][j], best[i][j - 1]);
            best[i][j] = MAX(best[i][j], best[i + 1][j]);
            if (i < j - 1)
                best[i][j] = MAX(best[i][j], best[i + 1][j - 1] + PAIR(base[i], base[j]));
            else
                best[i][j] = MAX(best[i][j], best[i + 1][j - 1]);
            for (int k = i + 1; k < j; k++)
                best[i][j] = MAX(best[i][j], best[i][k] + best[k + 1][j]);
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 180);
    size_t nb = (size_t)n * n;
    int *base = make_array((size_t)n * sizeof *base);
    real *best = make_reals(nb);

    for (int i = 0; i < n; i++)
        base[i] = (int)(mix(1, i) % 4);
    TIMED(kernel_nussinov(n, base, (void *)best));
    print_checksum("best", best, nb);
    free(base);
    free(best);
    return 0;
}
#endif
