/* C = alpha*A*B + beta*C: an ordinary loop nest, marked for tilewright. */
void gemm(int n, double alpha, double beta, double A[n][n], double B[n][n],
          double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < n; k++)
        C[i][j] += alpha * A[i][k] * B[k][j];
    }
#pragma endscop
}
