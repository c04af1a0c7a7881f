/* A matrix product with its operands packed. Plan: product */
static void product(int n, int m, int l, double C[n][m], double A[n][l], double B[l][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      C[i][j] *= 2;
      for (int k = 0; k < l; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
static void run_product(int n)
{
  product(n, n + 3, n + 1, (void *)room[0], (void *)room[1], (void *)room[2]);
}
