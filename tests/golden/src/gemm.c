/* Matrix product: three loops, tiled for the cache. */
void gemm(int n, int m, int p, double alpha, double beta, double C[n][m], double A[n][p], double B[p][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            C[i][j] *= beta;
            for (int k = 0; k < p; k++)
                C[i][j] += alpha * A[i][k] * B[k][j];
        }
#pragma endscop
}
