#include "kernels.h"

void kernel_jacobi_1d(int tsteps, int n, real a[n], real b[n])
{
    const real third = (real)1 / (real)3;

#pragma omp parallel
    for (int t = 0; t < tsteps; t++) {
#pragma omp for simd schedule(static)
        for (int i = 1; i < n - 1; i++)
            b[i] = third * (a[i - 1] + a[i] + a[i + 1]);
#pragma omp for simd schedule(static)
        for (int i = 1; i < n - 1; i++)
            a[i] = third * (b[i - 1] + b[i] + b[i + 1]);
    }
}
