/* mvt: a matrix-vector product and a transposed one,
 *     x1 := x1 + A * y1,   x2 := x2 + A^T * y2,   A is n x n.
 * sizes: small n=120 | large n=2000
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_mvt(int n, real x1[n], real x2[n], real y1[n], real y2[n], real A[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x1[i] += A[i][j] * y1[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x2[i] += A[j][i] * y2[j];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 120);
    size_t nA = (size_t)n * n;
    real *A = make_reals(nA), *x1 = make_reals(n), *x2 = make_reals(n);
    real *y1 = make_reals(n), *y2 = make_reals(n);

    fill(A, nA, 1);
    fill(x1, n, 2);
    fill(x2, n, 3);
    fill(y1, n, 4);
    fill(y2, n, 5);
    TIMED(kernel_mvt(n, x1, x2, y1, y2, (void *)A));
    print_checksum("x1", x1, n);
    print_checksum("x2", x2, n);
    free(A);
    free(x1);
    free(x2);
    free(y1);
    free(y2);
    return 0;
}
#endif
