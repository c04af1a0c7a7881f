/* 2mm: two chained matrix products,
 *     T := alpha * A * B,   D := T * C + beta * D,
 * with A ni x nk, B nk x nj, C nj x nl and D ni x nl.
 * sizes: small ni=40 nj=50 nk=70 nl=80 | large ni=800 nj=900 nk=1100 nl=1200
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_2mm(int ni, int nj, int nk, int nl, real alpha, real beta,
                real T[ni][nj], real A[ni][nk], real B[nk][nj],
                real C[nj][nl], real D[ni][nl])
{
    int i, j, k;

#pragma scop
    for (i = 0; i < ni; i++)
        for (j = 0; j < nj; j++) {
            T[i][j] = 0;
            for (k = 0; k < nk; k++)
                T[i][j] += alpha * A[i][k] * B[k][j];
        }

    for (i = 0; i < ni; i++)
        for (j = 0; j < nl; j++) {
            D[i][j] *= beta;
            for (k = 0; k < nj; k++)
                D[i][j] += T[i][k] * C[k][j];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int ni = (int)size_arg(argc, argv, 1, 40);
    int nj = (int)size_arg(argc, argv, 2, 50);
    int nk = (int)size_arg(argc, argv, 3, 70);
    int nl = (int)size_arg(argc, argv, 4, 80);
    size_t nT = (size_t)ni * nj, nA = (size_t)ni * nk, nB = (size_t)nk * nj;
    size_t nC = (size_t)nj * nl, nD = (size_t)ni * nl;
    real *T = make_reals(nT), *A = make_reals(nA), *B = make_reals(nB);
    real *C = make_reals(nC), *D = make_reals(nD);

    fill(A, nA, 1);
    fill(B, nB, 2);
    fill(C, nC, 3);
    fill(D, nD, 4);
    TIMED(kernel_2mm(ni, nj, nk, nl, (real)2, (real)3, (void *)T, (void *)A,
                     (void *)B, (void *)C, (void *)D));
    print_checksum("T", T, nT);
    print_checksum("D", D, nD);
    free(T);
    free(A);
    free(B);
    free(C);
    free(D);
    return 0;
}
#endif
