/* Reverse the rows and the columns of a matrix with loops that end at a
 * `!=` and step down, and a running maximum from the end of each row.
 * sizes: small n=44 m=55 | large n=5000 m=5000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_reverse_copy(long n, long m, real A[n][m], real B[n][m])
{
    long i, j;
#pragma scop
    for (i = n; i != 0; i--)
        for (j = m; j != 0; --j)
            B[n - i][m - j] = A[i - 1][j - 1];
    for (i = n - 1; i != -1; i -= 1)
        for (j = m - 2; j > -1; j = j - 1)
            B[i][j] = MAX(B[i][j], B[i][j + 1]);
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    long n = size_arg(argc, argv, 1, 44);
    long m = size_arg(argc, argv, 2, 55);
    size_t size = (size_t)n * m;
    real *A = make_reals(size), *B = make_reals(size);

    fill(A, size, 1);
    TIMED(kernel_reverse_copy(n, m, (void *)A, (void *)B));
    print_checksum("B", B, size);
    free(A);
    free(B);
    return 0;
}
#endif
