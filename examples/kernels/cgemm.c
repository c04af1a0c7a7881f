/* Complex matrix product on arrays of struct { re, im }: reads and writes of
 * struct fields.
 * sizes: small n=30 m=34 k=38 | large n=450 m=450 k=450
 * types: f64 f32 i32
 */
#include "kernels.h"

typedef struct {
    real re, im;
} cplx;

void kernel_cgemm(int n, int m, int k, cplx C[n][m], cplx A[n][k], cplx B[k][m])
{
    int i, j, l;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++) {
            C[i][j].re = 0;
            C[i][j].im = 0;
            for (l = 0; l < k; l++) {
                C[i][j].re += A[i][l].re * B[l][j].re - A[i][l].im * B[l][j].im;
                C[i][j].im += A[i][l].re * B[l][j].im + A[i][l].im * B[l][j].re;
            }
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 30);
    int m = size_arg(argc, argv, 2, 34);
    int k = size_arg(argc, argv, 3, 38);
    size_t nC = 2 * (size_t)n * m, nA = 2 * (size_t)n * k, nB = 2 * (size_t)k * m;
    real *C = make_reals(nC), *A = make_reals(nA), *B = make_reals(nB);

    fill(A, nA, 1);
    fill(B, nB, 2);
    TIMED(kernel_cgemm(n, m, k, (void *)C, (void *)A, (void *)B));
    print_checksum("C", C, nC);
    free(C);
    free(A);
    free(B);
    return 0;
}
#endif
