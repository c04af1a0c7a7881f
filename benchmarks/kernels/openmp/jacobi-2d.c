#include "kernels.h"

void kernel_jacobi_2d(int tsteps, int n, real a[n][n], real b[n][n])
{
#pragma omp parallel
    for (int t = 0; t < tsteps; t++) {
#pragma omp for schedule(static)
        for (int i = 1; i <= n - 2; i++) {
#pragma omp simd
            for (int j = 1; j <= n - 2; j++)
                b[i][j] = (real)0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]);
        }
#pragma omp for schedule(static)
        for (int i = 1; i <= n - 2; i++) {
#pragma omp simd
            for (int j = 1; j <= n - 2; j++)
                a[i][j] = (real)0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i + 1][j] + b[i - 1][j]);
        }
    }
}
