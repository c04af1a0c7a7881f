/* C = H * U for upper Hessenberg H and upper triangular U: bounds that start
 * one below the diagonal, cut at zero by an if.
 * sizes: small n=64 | large n=1000
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_hessenberg_mm(int n, real H[n][n], real U[n][n], real C[n][n])
{
    int i, j, k;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = i - 1; j < n; j++)
            if (j >= 0) {
                C[i][j] = 0;
                for (k = i - 1; k <= j; k++)
                    if (!(k < 0))
                        C[i][j] += H[i][k] * U[k][j];
            }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 64);
    size_t nn = (size_t)n * n;
    real *H = make_reals(nn), *U = make_reals(nn), *C = make_reals(nn);

    fill(H, nn, 1);
    fill(U, nn, 2);
    TIMED(kernel_hessenberg_mm(n, (void *)H, (void *)U, (void *)C));
    print_checksum("C", C, nn);
    free(H);
    free(U);
    free(C);
    return 0;
}
#endif
