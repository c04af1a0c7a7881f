/* Triangles of a dense undirected graph given as an int8_t adjacency matrix:
 * sum over i < j < k, into an int64_t; per-vertex counts too.
 * sizes: small n=50 | large n=1000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_triangle_count(int n, const int8_t adj[n][n], int64_t per[n], int64_t total[1])
{
    int i, j, k;
#pragma scop
    total[0] = 0;
    for (i = 0; i < n; i++) {
        per[i] = 0;
        for (j = i + 1; j < n; j++)
            for (k = j + 1; k < n; k++)
                per[i] += adj[i][j] & adj[j][k] & adj[i][k];
        total[0] += per[i];
    }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 50);
    size_t nn = (size_t)n * n;
    int8_t *adj = MAKE(int8_t, nn);
    int64_t *per = MAKE(int64_t, n), total[1] = {0};

    FILL_WITH(adj, nn, 1, (int8_t)(u % 3 == 0));
    TIMED(kernel_triangle_count(n, (void *)adj, per, total));
    CHECKSUM_OF("per", per, n);
    CHECKSUM_OF("total", total, 1);
    free(adj);
    free(per);
    return 0;
}
#endif
