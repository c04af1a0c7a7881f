/* 3mm: three matrix products,
 *     E := A * B,   F := C * D,   G := E * F,
 * with A ni x nk, B nk x nj, C nj x nm, D nm x nl.
 * sizes: small ni=40 nj=50 nk=60 nl=70 nm=80 | large ni=800 nj=900 nk=1000 nl=1100 nm=1200
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_3mm(int ni, int nj, int nk, int nl, int nm,
                real E[ni][nj], real A[ni][nk], real B[nk][nj],
                real F[nj][nl], real C[nj][nm], real D[nm][nl], real G[ni][nl])
{
#pragma scop
    for (int i = 0; i <= ni - 1; i += 1)
        for (int j = 0; j <= nj - 1; j += 1) {
            E[i][j] = 0;
            for (int k = 0; k <= nk - 1; k += 1)
                E[i][j] += A[i][k] * B[k][j];
        }
    for (int i = 0; i <= nj - 1; i += 1)
        for (int j = 0; j <= nl - 1; j += 1) {
            F[i][j] = 0;
            for (int k = 0; k <= nm - 1; k += 1)
                F[i][j] += C[i][k] * D[k][j];
        }
    for (int i = 0; i <= ni - 1; i += 1)
        for (int j = 0; j <= nl - 1; j += 1) {
            G[i][j] = 0;
            for (int k = 0; k <= nj - 1; k += 1)
                G[i][j] += E[i][k] * F[k][j];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int ni = (int)size_arg(argc, argv, 1, 40);
    int nj = (int)size_arg(argc, argv, 2, 50);
    int nk = (int)size_arg(argc, argv, 3, 60);
    int nl = (int)size_arg(argc, argv, 4, 70);
    int nm = (int)size_arg(argc, argv, 5, 80);
    size_t nA = (size_t)ni * nk, nB = (size_t)nk * nj, nC = (size_t)nj * nm;
    size_t nD = (size_t)nm * nl, nE = (size_t)ni * nj, nF = (size_t)nj * nl;
    size_t nG = (size_t)ni * nl;
    real *A = make_reals(nA), *B = make_reals(nB), *C = make_reals(nC);
    real *D = make_reals(nD), *E = make_reals(nE), *F = make_reals(nF);
    real *G = make_reals(nG);

    fill(A, nA, 1);
    fill(B, nB, 2);
    fill(C, nC, 3);
    fill(D, nD, 4);
    TIMED(kernel_3mm(ni, nj, nk, nl, nm, (void *)E, (void *)A, (void *)B,
                     (void *)F, (void *)C, (void *)D, (void *)G));
    print_checksum("E", E, nE);
    print_checksum("F", F, nF);
    print_checksum("G", G, nG);
    free(A);
    free(B);
    free(C);
    free(D);
    free(E);
    free(F);
    free(G);
    return 0;
}
#endif
