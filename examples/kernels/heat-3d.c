/* heat-3d: explicit steps of the heat equation on an n^3 grid, fixed boundary,
 *     u' = u + (D_i u + D_j u + D_k u) / 8,   D the second difference,
 * A to B and B to A in each of the tsteps time steps.
 * sizes: small tsteps=40 n=20 | large tsteps=500 n=120
 * types: f64 f32
 */
#include "kernels.h"

void kernel_heat_3d(int tsteps, int n, real A[n][n][n], real B[n][n][n])
{
    const real c = (real)0.125;

#pragma scop
    for (int t = 1; t <= tsteps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    B[i][j][k] = A[i][j][k]
                        + c * (A[i - 1][j][k] - 2 * A[i][j][k] + A[i + 1][j][k])
                        + c * (A[i][j - 1][k] - 2 * A[i][j][k] + A[i][j + 1][k])
                        + c * (A[i][j][k - 1] - 2 * A[i][j][k] + A[i][j][k + 1]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                for (int k = 1; k < n - 1; k++)
                    A[i][j][k] = B[i][j][k]
                        + c * (B[i - 1][j][k] - 2 * B[i][j][k] + B[i + 1][j][k])
                        + c * (B[i][j - 1][k] - 2 * B[i][j][k] + B[i][j + 1][k])
                        + c * (B[i][j][k - 1] - 2 * B[i][j][k] + B[i][j][k + 1]);
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int tsteps = (int)size_arg(argc, argv, 1, 40);
    int n = (int)size_arg(argc, argv, 2, 20);
    size_t nn = (size_t)n * n * n;
    real *A = make_reals(nn), *B = make_reals(nn);

    fill(A, nn, 1);
    fill(B, nn, 1);
    TIMED(kernel_heat_3d(tsteps, n, (void *)A, (void *)B));
    print_checksum("A", A, nn);
    print_checksum("B", B, nn);
    free(A);
    free(B);
    return 0;
}
#endif
