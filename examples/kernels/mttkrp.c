/* Dense matricised tensor times Khatri-Rao product:
 *     M[i][r] += X[i][j][k] * B[j][r] * C[k][r].
 * sizes: small ni=14 nj=13 nk=12 rank=9 | large ni=160 nj=160 nk=160 rank=32
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_mttkrp(int ni, int nj, int nk, int rank, real M[ni][rank],
                   const real X[ni][nj][nk], const real B[nj][rank], const real C[nk][rank])
{
    int i, j, k, r;
#pragma scop
    for (i = 0; i < ni; i++)
        for (j = 0; j < nj; j++)
            for (k = 0; k < nk; k++)
                for (r = 0; r < rank; r++)
                    M[i][r] += X[i][j][k] * B[j][r] * C[k][r];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int ni = size_arg(argc, argv, 1, 14);
    int nj = size_arg(argc, argv, 2, 13);
    int nk = size_arg(argc, argv, 3, 12);
    int rank = size_arg(argc, argv, 4, 9);
    size_t nM = (size_t)ni * rank, nX = (size_t)ni * nj * nk;
    size_t nB = (size_t)nj * rank, nC = (size_t)nk * rank;
    real *M = make_reals(nM), *X = make_reals(nX), *B = make_reals(nB), *C = make_reals(nC);

    fill(X, nX, 1);
    fill(B, nB, 2);
    fill(C, nC, 3);
    TIMED(kernel_mttkrp(ni, nj, nk, rank, (void *)M, (void *)X, (void *)B, (void *)C));
    print_checksum("M", M, nM);
    free(M);
    free(X);
    free(B);
    free(C);
    return 0;
}
#endif
