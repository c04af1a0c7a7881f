/* Many small matrix products C[b] += A[b] * B[b], the reduction innermost.
 * sizes: small nb=4 n=12 m=14 k=16 | large nb=200 n=80 m=80 k=80
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_batched_gemm(int nb, int n, int m, int k, real C[nb][n][m],
                         real A[nb][n][k], real B[nb][k][m])
{
    int b, i, j, l;
#pragma scop
    for (b = 0; b < nb; b++)
        for (i = 0; i < n; i++)
            for (j = 0; j < m; j++)
                for (l = 0; l < k; l++)
                    C[b][i][j] += A[b][i][l] * B[b][l][j];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nb = size_arg(argc, argv, 1, 4);
    int n = size_arg(argc, argv, 2, 12);
    int m = size_arg(argc, argv, 3, 14);
    int k = size_arg(argc, argv, 4, 16);
    size_t nC = (size_t)nb * n * m, nA = (size_t)nb * n * k, nB = (size_t)nb * k * m;
    real *C = make_reals(nC), *A = make_reals(nA), *B = make_reals(nB);

    fill(A, nA, 1);
    fill(B, nB, 2);
    fill(C, nC, 3);
    TIMED(kernel_batched_gemm(nb, n, m, k, (void *)C, (void *)A, (void *)B));
    print_checksum("C", C, nC);
    free(C);
    free(A);
    free(B);
    return 0;
}
#endif
