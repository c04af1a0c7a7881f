/* Matrix product on flat pointers with leading dimensions, C[i*ldc + j]: the
 * subscripts are products of an iterator and a parameter.
 * sizes: small n=36 m=44 k=52 | large n=700 m=700 k=700
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_gemm_flat(int n, int m, int k, int lda, int ldb, int ldc,
                      const real *restrict A, const real *restrict B, real *restrict C)
{
    int i, j, l;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++) {
            C[i * ldc + j] = 0;
            for (l = 0; l < k; l++)
                C[i * ldc + j] += A[i * lda + l] * B[l * ldb + j];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 36);
    int m = size_arg(argc, argv, 2, 44);
    int k = size_arg(argc, argv, 3, 52);
    int lda = k + 3, ldb = m + 1, ldc = m;
    size_t nA = (size_t)n * lda, nB = (size_t)k * ldb, nC = (size_t)n * ldc;
    real *A = make_reals(nA), *B = make_reals(nB), *C = make_reals(nC);

    fill(A, nA, 1);
    fill(B, nB, 2);
    TIMED(kernel_gemm_flat(n, m, k, lda, ldb, ldc, A, B, C));
    print_checksum("C", C, nC);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
