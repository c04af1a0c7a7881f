/* Swap the last two axes of a rank-3 tensor: B[i][k][j] = A[i][j][k].
 * sizes: small ni=10 nj=20 nk=30 | large ni=60 nj=700 nk=700
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_permute_021(int ni, int nj, int nk, real (*A)[nj][nk], real (*B)[nk][nj])
{
    int i, j, k;
#pragma scop
    for (i = 0; i < ni; i++)
        for (j = 0; j < nj; j++)
            for (k = 0; k < nk; k++)
                B[i][k][j] = A[i][j][k];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int ni = size_arg(argc, argv, 1, 10);
    int nj = size_arg(argc, argv, 2, 20);
    int nk = size_arg(argc, argv, 3, 30);
    size_t n = (size_t)ni * nj * nk;
    real *A = make_reals(n), *B = make_reals(n);

    fill(A, n, 1);
    TIMED(kernel_permute_021(ni, nj, nk, (void *)A, (void *)B));
    print_checksum("B", B, n);
    free(A);
    free(B);
    return 0;
}
#endif
