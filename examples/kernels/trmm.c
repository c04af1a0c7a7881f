/* trmm: unit triangular matrix times matrix, in place,
 *     B := alpha * L^T * B,
 * L is m x m unit lower triangular (only entries below the diagonal are read),
 * B is m x n.  Row i of the result needs the old rows i .. m-1 only.
 * sizes: small m=60 n=80 | large m=1000 n=1200
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_trmm(int m, int n, real alpha, real L[m][m], real B[m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            for (int k = i + 1; k < m; k++)
                B[i][j] += L[k][i] * B[k][j];
            B[i][j] = alpha * B[i][j];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int m = (int)size_arg(argc, argv, 1, 60);
    int n = (int)size_arg(argc, argv, 2, 80);
    size_t nL = (size_t)m * m, nB = (size_t)m * n;
    real *L = make_reals(nL), *B = make_reals(nB);

    fill(L, nL, 1);
    fill(B, nB, 2);
    TIMED(kernel_trmm(m, n, (real)2, (void *)L, (void *)B));
    print_checksum("B", B, nB);
    free(L);
    free(B);
    return 0;
}
#endif
