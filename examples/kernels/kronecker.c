/* Kronecker product with a fixed 4 x 4 right factor: C[4i+k][4j+l].
 * sizes: small n=13 m=17 | large n=900 m=900
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_kronecker(int n, int m, real A[n][m], real B[4][4], real C[4 * n][4 * m])
{
    int i, j, k, l;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            for (k = 0; k < 4; k++)
                for (l = 0; l < 4; l++)
                    C[4 * i + k][4 * j + l] = A[i][j] * B[k][l];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 13);
    int m = size_arg(argc, argv, 2, 17);
    size_t nA = (size_t)n * m;
    real *A = make_reals(nA), *B = make_reals(16), *C = make_reals(16 * nA);

    fill(A, nA, 1);
    fill(B, 16, 2);
    TIMED(kernel_kronecker(n, m, (void *)A, (void *)B, (void *)C));
    print_checksum("C", C, 16 * nA);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
