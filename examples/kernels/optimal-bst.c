/* Optimal binary search tree, O(n^3): interval weights W and costs C, rows
 * from the last to the first.
 * sizes: small n=44 | large n=1000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_optimal_bst(int n, const real freq[n], real W[n + 1][n + 1], real C[n + 1][n + 1])
{
    int i, j, k;
#pragma scop
    for (i = 0; i <= n; i++) {
        W[i][i] = 0;
        C[i][i] = 0;
    }
    for (i = n - 1; i >= 0; --i)
        for (j = i + 1; j <= n; ++j) {
            W[i][j] = W[i][j - 1] + freq[j - 1];
            C[i][j] = C[i + 1][j] + W[i][j];
            for (k = i + 1; k < j; k++)
                C[i][j] = MIN(C[i][j], C[i][k] + C[k + 1][j] + W[i][j]);
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 44);
    size_t nn = ((size_t)n + 1) * (n + 1);
    real *freq = make_reals(n), *W = make_reals(nn), *C = make_reals(nn);

    for (int i = 0; i < n; i++)
        freq[i] = (real)(mix(1, i) % 100 + 1);
    TIMED(kernel_optimal_bst(n, freq, (void *)W, (void *)C));
    print_checksum("W", W, nn);
    print_checksum("C", C, nn);
    free(freq);
    free(W);
    free(C);
    return 0;
}
#endif
