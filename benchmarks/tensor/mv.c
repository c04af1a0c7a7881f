/* y += A x and y += A^T x for a row-major m x n matrix. */
#ifndef REAL
#define REAL double
#endif
typedef REAL real;

void mv(long m, long n, real y[m], real A[m][n], real x[n])
{
#pragma scop
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++)
            y[i] += A[i][j] * x[j];
#pragma endscop
}

void mtv(long m, long n, real y[n], real A[m][n], real x[m])
{
#pragma scop
    for (long j = 0; j < n; j++)
        for (long i = 0; i < m; i++)
            y[j] += A[i][j] * x[i];
#pragma endscop
}
