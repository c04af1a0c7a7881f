#include "kernels.h"

void kernel_heat_3d(int tsteps, int n, real A[n][n][n], real B[n][n][n])
{
    const real c = (real)0.125;

#pragma omp parallel
    for (int t = 1; t <= tsteps; t++) {
#pragma omp for schedule(static)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
#pragma omp simd
                for (int k = 1; k < n - 1; k++)
                    B[i][j][k] = A[i][j][k]
                        + c * (A[i - 1][j][k] - 2 * A[i][j][k] + A[i + 1][j][k])
                        + c * (A[i][j - 1][k] - 2 * A[i][j][k] + A[i][j + 1][k])
                        + c * (A[i][j][k - 1] - 2 * A[i][j][k] + A[i][j][k + 1]);
            }
#pragma omp for schedule(static)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++) {
#pragma omp simd
                for (int k = 1; k < n - 1; k++)
                    A[i][j][k] = B[i][j][k]
                        + c * (B[i - 1][j][k] - 2 * B[i][j][k] + B[i + 1][j][k])
                        + c * (B[i][j - 1][k] - 2 * B[i][j][k] + B[i][j + 1][k])
                        + c * (B[i][j][k - 1] - 2 * B[i][j][k] + B[i][j][k + 1]);
            }
    }
}
