/* gemver: rank-2 update, then a transposed and a plain product,
 *     A := A + u1 v1^T + u2 v2^T,
 *     x := x + beta * A^T y + z,
 *     w := w + alpha * A x.
 * sizes: small n=120 | large n=2000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_gemver(int n, real alpha, real beta, real A[n][n],
                   real u1[n], real v1[n], real u2[n], real v2[n],
                   real w[n], real x[n], real y[n], real z[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            x[i] = x[i] + beta * A[j][i] * y[j];

    for (int i = 0; i < n; i++)
        x[i] = x[i] + z[i];

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            w[i] = w[i] + alpha * A[i][j] * x[j];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 120);
    size_t nA = (size_t)n * n;
    real *A = make_reals(nA), *w = make_reals(n), *x = make_reals(n);
    real *u1 = make_reals(n), *v1 = make_reals(n), *u2 = make_reals(n), *v2 = make_reals(n);
    real *y = make_reals(n), *z = make_reals(n);

    fill(A, nA, 1);
    fill(u1, n, 2);
    fill(v1, n, 3);
    fill(u2, n, 4);
    fill(v2, n, 5);
    fill(y, n, 6);
    fill(z, n, 7);
    TIMED(kernel_gemver(n, (real)1.5, (real)1.25, (void *)A, u1, v1, u2, v2, w, x, y, z));
    print_checksum("A", A, nA);
    print_checksum("x", x, n);
    print_checksum("w", w, n);
    free(A);
    free(w);
    free(x);
    free(u1);
    free(v1);
    free(u2);
    free(v2);
    free(y);
    free(z);
    return 0;
}
#endif
