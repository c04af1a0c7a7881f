/* Tensor contraction of coupled-cluster shape,
 *     C[a][b][c][d] += A[a][e][b][f] * B[d][f][c][e].
 * sizes: small na=5 nb=6 nc=4 nd=7 ne=5 nf=6 | large na=24 nb=24 nc=24 nd=24 ne=24 nf=24
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_contract_4d(int na, int nb, int nc, int nd, int ne, int nf,
                        real C[na][nb][nc][nd], real A[na][ne][nb][nf],
                        real B[nd][nf][nc][ne])
{
    int a, b, c, d, e, f;
#pragma scop
    for (a = 0; a < na; a++)
        for (b = 0; b < nb; b++)
            for (c = 0; c < nc; c++)
                for (d = 0; d < nd; d++)
                    for (e = 0; e < ne; e++)
                        for (f = 0; f < nf; f++)
                            C[a][b][c][d] += A[a][e][b][f] * B[d][f][c][e];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int na = size_arg(argc, argv, 1, 5);
    int nb = size_arg(argc, argv, 2, 6);
    int nc = size_arg(argc, argv, 3, 4);
    int nd = size_arg(argc, argv, 4, 7);
    int ne = size_arg(argc, argv, 5, 5);
    int nf = size_arg(argc, argv, 6, 6);
    size_t nC = (size_t)na * nb * nc * nd, nA = (size_t)na * ne * nb * nf;
    size_t nB = (size_t)nd * nf * nc * ne;
    real *C = make_reals(nC), *A = make_reals(nA), *B = make_reals(nB);

    fill(C, nC, 1);
    fill(A, nA, 2);
    fill(B, nB, 3);
    TIMED(kernel_contract_4d(na, nb, nc, nd, ne, nf, (void *)C, (void *)A, (void *)B));
    print_checksum("C", C, nC);
    free(C);
    free(A);
    free(B);
    return 0;
}
#endif
