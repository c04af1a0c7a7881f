/* Min-times product on flat arrays; the smaller one stays when both are equal.
 * sizes: small n=40 m=50 k=60 | large n=700 m=800 k=900
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_mintimes(int n, int m, int k, real *restrict C, const real *restrict A,
                     const real *restrict B)
{
    int i, j, l;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            for (l = 0; l < k; l++)
                C[i * m + j] = C[i * m + j] <= A[i * k + l] * B[l * m + j] ? C[i * m + j]
                                                                           : A[i * k + l] * B[l * m + j];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 40);
    int m = (int)size_arg(argc, argv, 2, 50);
    int k = (int)size_arg(argc, argv, 3, 60);
    size_t nA = (size_t)n * k, nB = (size_t)k * m, nC = (size_t)n * m;
    real *A = make_reals(nA), *B = make_reals(nB), *C = make_reals(nC);

    fill(A, nA, 1);
    fill(B, nB, 2);
    for (size_t x = 0; x < nC; x++)
        C[x] = 1000;
    TIMED(kernel_mintimes(n, m, k, C, A, B));
    print_checksum("C", C, nC);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
