/* floyd-warshall: all shortest path lengths of a weighted digraph, in place;
 *     d_ij := min(d_ij, d_ik + d_kj)   for every intermediate node k in turn.
 * sizes: small n=180 | large n=2800
 * types: i32 f64 f32
 */
#include "kernels.h"

void kernel_floyd_warshall(int n, real d[n][n])
{
    int i, j, k;

#pragma scop
    for (k = 0; k < n; k++)
        for (i = 0; i < n; i++)
            for (j = 0; j < n; j++)
                d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 180);
    size_t nd = (size_t)n * n;
    real *d = make_reals(nd);

    /* Whole lengths 1..100, and one arc in four as good as missing (1000):
     * exact in every type, and no negative cycles. */
    for (size_t i = 0; i < nd; i++)
        d[i] = (real)(mix(2, i) % 4 ? 1 + mix(1, i) % 100 : 1000);
    for (int i = 0; i < n; i++)
        d[(size_t)i * n + i] = 0;
    TIMED(kernel_floyd_warshall(n, (void *)d));
    print_checksum("d", d, nd);
    free(d);
    return 0;
}
#endif
