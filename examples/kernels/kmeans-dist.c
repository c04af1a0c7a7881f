/* Squared distances of n points to k centres in d dimensions, and the smallest
 * distance and its index per point (the index by ?:).
 * sizes: small n=100 k=9 d=7 | large n=20000 k=64 d=64
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_kmeans_dist(int n, int k, int d, const real pts[n][d], const real ctr[k][d],
                        real dist[n][k], real best[n], int label[n])
{
    int i, c, l;
#pragma scop
    for (i = 0; i < n; i++)
        for (c = 0; c < k; c++) {
            dist[i][c] = 0;
            for (l = 0; l < d; l++)
                dist[i][c] += (pts[i][l] - ctr[c][l]) * (pts[i][l] - ctr[c][l]);
        }
    if (k > 0)
        for (i = 0; i < n; i++) {
            best[i] = dist[i][0];
            label[i] = 0;
            for (c = 1; c < k; c++) {
                label[i] = dist[i][c] < best[i] ? c : label[i];
                best[i] = dist[i][c] < best[i] ? dist[i][c] : best[i];
            }
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 100);
    int k = size_arg(argc, argv, 2, 9);
    int d = size_arg(argc, argv, 3, 7);
    size_t np = (size_t)n * d, nc = (size_t)k * d, nd = (size_t)n * k;
    real *pts = make_reals(np), *ctr = make_reals(nc), *dist = make_reals(nd), *best = make_reals(n);
    int *label = MAKE(int, n);

    fill(pts, np, 1);
    fill(ctr, nc, 2);
    TIMED(kernel_kmeans_dist(n, k, d, (void *)pts, (void *)ctr, (void *)dist, best, label));
    print_checksum("dist", dist, nd);
    print_checksum("best", best, n);
    CHECKSUM_OF("label", label, n);
    free(pts);
    free(ctr);
    free(dist);
    free(best);
    free(label);
    return 0;
}
#endif
