/* C += A B for banded A (lower bandwidth kl, upper ku) held in full storage:
 * the reduction runs between a max and a min.
 * sizes: small n=60 m=40 kl=5 ku=7 | large n=2000 m=1000 kl=60 ku=80
 * types: f64 f32 i32
 */
#include "kernels.h"

#define LO(i) ((i) - kl > 0 ? (i) - kl : 0)
#define HI(i) ((i) + ku < n - 1 ? (i) + ku : n - 1)

void kernel_banded_matmul(int n, int m, int kl, int ku, real C[n][m],
                          real A[n][n], real B[n][m])
{
    int i, j, k;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            for (k = LO(i); k <= HI(i); k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 60);
    int m = size_arg(argc, argv, 2, 40);
    int kl = size_arg(argc, argv, 3, 5);
    int ku = size_arg(argc, argv, 4, 7);
    size_t nn = (size_t)n * n, nm = (size_t)n * m;
    real *C = make_reals(nm), *A = make_reals(nn), *B = make_reals(nm);

    fill(C, nm, 1);
    fill(A, nn, 2);
    fill(B, nm, 3);
    TIMED(kernel_banded_matmul(n, m, kl, ku, (void *)C, (void *)A, (void *)B));
    print_checksum("C", C, nm);
    free(C);
    free(A);
    free(B);
    return 0;
}
#endif
