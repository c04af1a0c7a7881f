/* In-place transpose of a square matrix by swaps through a scalar declared
 * inside the region.
 * sizes: small n=77 | large n=6000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_transpose_inplace(int n, real A[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            real t = A[i][j];
            A[i][j] = A[j][i];
            A[j][i] = t;
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 77);
    size_t size = (size_t)n * n;
    real *A = make_reals(size);

    fill(A, size, 1);
    TIMED(kernel_transpose_inplace(n, (void *)A));
    print_checksum("A", A, size);
    free(A);
    return 0;
}
#endif
