#include "kernels.h"

void kernel_fdtd_2d(int tmax, int nx, int ny, real ex[nx][ny], real ey[nx][ny],
                    real hz[nx][ny], real source[tmax])
{
    const real half = (real)0.5, courant = (real)0.7;

#pragma omp parallel
    for (int t = 0; t < tmax; t++) {
#pragma omp for schedule(static)
        for (int i = 0; i < nx; i++) {
            if (i == 0) {
#pragma omp simd
                for (int j = 0; j < ny; j++)
                    ey[0][j] = source[t];
            } else {
#pragma omp simd
                for (int j = 0; j < ny; j++)
                    ey[i][j] = ey[i][j] - half * (hz[i][j] - hz[i - 1][j]);
            }
#pragma omp simd
            for (int j = 1; j < ny; j++)
                ex[i][j] = ex[i][j] - half * (hz[i][j] - hz[i][j - 1]);
        }
#pragma omp for schedule(static)
        for (int i = 0; i < nx - 1; i++) {
#pragma omp simd
            for (int j = 0; j < ny - 1; j++)
                hz[i][j] = hz[i][j] - courant * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
        }
    }
}
