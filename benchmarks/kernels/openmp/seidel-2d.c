/* Gauss-Seidel sweeps are sequential line by line: points with equal 2i + j are independent. */
#include "kernels.h"

void kernel_seidel_2d(int tsteps, int n, real a[n][n])
{
#pragma omp parallel
    for (int t = 0; t <= tsteps - 1; t++)
        for (int w = 3; w <= 3 * (n - 2); w++) {
            const int first = MAX(1, (w - (n - 2) + 1) / 2), last = MIN(n - 2, (w - 1) / 2);
#pragma omp for schedule(static)
            for (int i = first; i <= last; i++) {
                const int j = w - 2 * i;
                a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1]
                           + a[i][j - 1] + a[i][j] + a[i][j + 1]
                           + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9;
            }
        }
}
