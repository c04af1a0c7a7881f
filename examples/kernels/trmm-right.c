/* In-place product with a lower triangular matrix from the right,
 * B := B * L: column j of the result needs the old columns j and up.
 * sizes: small n=45 m=38 | large n=900 m=900
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_trmm_right(int n, int m, real B[n][m], real L[m][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            B[i][j] = B[i][j] * L[j][j];
            for (int k = j + 1; k < m; k++)
                B[i][j] = B[i][j] + B[i][k] * L[k][j];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 45);
    int m = size_arg(argc, argv, 2, 38);
    size_t nB = (size_t)n * m, nL = (size_t)m * m;
    real *B = make_reals(nB), *L = make_reals(nL);

    fill(B, nB, 1);
    fill(L, nL, 2);
    TIMED(kernel_trmm_right(n, m, (void *)B, (void *)L));
    print_checksum("B", B, nB);
    free(B);
    free(L);
    return 0;
}
#endif
