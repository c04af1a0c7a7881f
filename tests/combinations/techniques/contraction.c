/* A contraction of a tensor of three dimensions. Plan: product */
static void contract(int n, int m, double C[n][m][n], double A[n][m], double B[n][m][m])
{
#pragma scop
  for (int a = 0; a < n; a++)
    for (int b = 0; b < m; b++)
      for (int c = 0; c < n; c++)
        for (int d = 0; d < m; d++)
          C[a][b][c] += A[a][d] * B[c][d][b];
#pragma endscop
}
static void run_contraction(int n)
{
  const int k = n < 12 ? n : 12;
  contract(k, k + 1, (void *)room[0], (void *)room[1], (void *)room[2]);
}
