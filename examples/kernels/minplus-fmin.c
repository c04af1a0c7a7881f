/* Min-plus product with fmin, the reduction loop outermost.
 * sizes: small n=40 m=50 k=60 | large n=700 m=800 k=900
 * types: f64 f32
 */
#include "kernels.h"

void kernel_minplus_fmin(int n, int m, int k, real C[n][m], real A[n][k], real B[k][m])
{
    int i, j, l;
#pragma scop
    for (l = 0; l < k; l++)
        for (i = 0; i < n; i++)
            for (j = 0; j < m; j++)
                C[i][j] = fmin(C[i][j], A[i][l] + B[l][j]);
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 40);
    int m = (int)size_arg(argc, argv, 2, 50);
    int k = (int)size_arg(argc, argv, 3, 60);
    size_t nA = (size_t)n * k, nB = (size_t)k * m, nC = (size_t)n * m;
    real *A = make_reals(nA), *B = make_reals(nB), *C = make_reals(nC);

    fill(A, nA, 1);
    fill(B, nB, 2);
    for (size_t x = 0; x < nC; x++)
        C[x] = 1000;
    TIMED(kernel_minplus_fmin(n, m, k, (void *)C, (void *)A, (void *)B));
    print_checksum("C", C, nC);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
