/* Fill a matrix by a pattern of affine conditions joined with &&, || and !:
 * lattices by modulo 2 and 3, the two diagonals, the frame.
 * sizes: small n=41 m=53 | large n=5000 m=5000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_mask_pattern(int n, int m, real A[n][m])
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i++) {
        for (j = 0; j < m; j++) {
            if (i == 0 || j == 0 || i == n - 1 || j == m - 1)
                A[i][j] = 1;
            else if ((i % 3 == 0 && j % 2 == 1) || (i + j) % 5 == 2)
                A[i][j] = -A[i][j];
            else if (!(i == j || i + j == n - 1))
                A[i][j] += 2;
            if (!(i > j) && 2 * i + j <= n)
                A[i][j] *= 3;
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 41);
    int m = size_arg(argc, argv, 2, 53);
    size_t size = (size_t)n * m;
    real *A = make_reals(size);

    fill(A, size, 1);
    TIMED(kernel_mask_pattern(n, m, (void *)A));
    print_checksum("A", A, size);
    free(A);
    return 0;
}
#endif
