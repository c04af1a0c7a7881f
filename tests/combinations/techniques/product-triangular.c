/* A symmetric product of which one triangle is stored. Plan: product */
static void triangle(int n, int m, double C[n][n], double A[n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < m; k++)
        C[i][j] += A[i][k] * A[j][k];
#pragma endscop
}
static void run_product_triangular(int n)
{
  triangle(n, n + 2, (void *)room[0], (void *)room[1]);
}
