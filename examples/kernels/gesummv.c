/* gesummv: a weighted sum of two matrix-vector products,
 *     y := alpha * A x + beta * B x,   A and B are n x n.
 * sizes: small n=90 | large n=1300
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_gesummv(int n, real alpha, real beta, real A[n][n], real B[n][n],
                    real x[n], real y[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        real ax = 0;
        real bx = 0;
        for (int j = 0; j < n; j++) {
            ax += A[i][j] * x[j];
            bx += B[i][j] * x[j];
        }
        y[i] = alpha * ax + beta * bx;
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 90);
    size_t nA = (size_t)n * n;
    real *A = make_reals(nA), *B = make_reals(nA), *x = make_reals(n), *y = make_reals(n);

    fill(A, nA, 1);
    fill(B, nA, 2);
    fill(x, n, 3);
    TIMED(kernel_gesummv(n, (real)2, (real)3, (void *)A, (void *)B, x, y));
    print_checksum("y", y, n);
    free(A);
    free(B);
    free(x);
    free(y);
    return 0;
}
#endif
