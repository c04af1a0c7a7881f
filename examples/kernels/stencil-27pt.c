/* 27-point stencil in three dimensions with four weights by distance, on two
 * arrays, the time loop unrolled by two.
 * sizes: small nt=3 n=15 | large nt=5 n=150
 * types: f64 f32
 */
#include "kernels.h"

#define FACES(A) (A[i - 1][j][k] + A[i + 1][j][k] + A[i][j - 1][k] + A[i][j + 1][k] \
                  + A[i][j][k - 1] + A[i][j][k + 1])
#define EDGES(A) (A[i - 1][j - 1][k] + A[i - 1][j + 1][k] + A[i + 1][j - 1][k] + A[i + 1][j + 1][k] \
                  + A[i - 1][j][k - 1] + A[i - 1][j][k + 1] + A[i + 1][j][k - 1] + A[i + 1][j][k + 1] \
                  + A[i][j - 1][k - 1] + A[i][j - 1][k + 1] + A[i][j + 1][k - 1] + A[i][j + 1][k + 1])
#define CORNERS(A) (A[i - 1][j - 1][k - 1] + A[i - 1][j - 1][k + 1] + A[i - 1][j + 1][k - 1] \
                    + A[i - 1][j + 1][k + 1] + A[i + 1][j - 1][k - 1] + A[i + 1][j - 1][k + 1] \
                    + A[i + 1][j + 1][k - 1] + A[i + 1][j + 1][k + 1])

void kernel_stencil_27pt(int nt, int n, const real w[4], real A[n][n][n], real B[n][n][n])
{
    int t, i, j, k;
#pragma scop
    for (t = 0; t < nt; t++) {
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++)
                for (k = 1; k < n - 1; k++)
                    B[i][j][k] = w[0] * A[i][j][k] + w[1] * FACES(A) + w[2] * EDGES(A) + w[3] * CORNERS(A);
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < n - 1; j++)
                for (k = 1; k < n - 1; k++)
                    A[i][j][k] = w[0] * B[i][j][k] + w[1] * FACES(B) + w[2] * EDGES(B) + w[3] * CORNERS(B);
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 3);
    int n = size_arg(argc, argv, 2, 15);
    size_t size = (size_t)n * n * n;
    real w[4] = {(real)0.3, (real)0.06, (real)0.02, (real)0.0125};
    real *A = make_reals(size), *B = make_reals(size);

    fill(A, size, 1);
    fill(B, size, 1);
    TIMED(kernel_stencil_27pt(nt, n, w, (void *)A, (void *)B));
    print_checksum("A", A, size);
    print_checksum("B", B, size);
    free(A);
    free(B);
    return 0;
}
#endif
