/* Loops over a parallelogram, all diagonals and a strided wedge: bounds that mix
 * two iterators with coefficients, and negative lower bounds.
 * sizes: small n=40 | large n=3000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_skewed_domain(int n, real A[n][n], real h[2 * n + 1])
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = i; j < n + i; j++)
            A[i][j - i] += 1;
    for (i = -n; i <= n; i++)
        for (j = MAX(0, -i); j < MIN(n, n - i); j++)
            h[i + n] += A[i + j][j];
    for (i = 0; 2 * i < n; i++)
        for (j = 2 * i; 3 * j < 2 * n + i; j += 2)
            A[j][i] -= 2;
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 40);
    size_t nn = (size_t)n * n, nh = 2 * (size_t)n + 1;
    real *A = make_reals(nn), *h = make_reals(nh);

    fill(A, nn, 1);
    TIMED(kernel_skewed_domain(n, (void *)A, h));
    print_checksum("A", A, nn);
    print_checksum("h", h, nh);
    free(A);
    free(h);
    return 0;
}
#endif
