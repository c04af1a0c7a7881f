/* C += op(A) * op(B), row major: m x n, depth k. */
#ifndef REAL
#define REAL double
#endif
typedef REAL real;

void gemm_nn(long m, long n, long k, real C[m][n], real A[m][k], real B[k][n])
{
#pragma scop
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++)
            for (long l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
#pragma endscop
}

void gemm_tn(long m, long n, long k, real C[m][n], real A[k][m], real B[k][n])
{
#pragma scop
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++)
            for (long l = 0; l < k; l++)
                C[i][j] += A[l][i] * B[l][j];
#pragma endscop
}

void gemm_nt(long m, long n, long k, real C[m][n], real A[m][k], real B[n][k])
{
#pragma scop
    for (long i = 0; i < m; i++)
        for (long j = 0; j < n; j++)
            for (long l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[j][l];
#pragma endscop
}
