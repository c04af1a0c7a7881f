/* In-place 2-D prefix sum: along the rows, then along the columns.
 * sizes: small n=50 m=60 | large n=4000 m=4000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_prefix_sum_2d(int n, int m, real A[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 1; j < m; j++)
            A[i][j] += A[i][j - 1];
    for (int j = 0; j < m; j++)
        for (int i = 1; i < n; i++)
            A[i][j] += A[i - 1][j];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 50);
    int m = size_arg(argc, argv, 2, 60);
    size_t size = (size_t)n * m;
    real *A = make_reals(size);

    fill(A, size, 1);
    TIMED(kernel_prefix_sum_2d(n, m, (void *)A));
    print_checksum("A", A, size);
    free(A);
    return 0;
}
#endif
