/* A product with few rows, whose operands are read where they lie. Plan: product S1 */
static void few_rows(int m, int l, double C[3][m], double A[3][l], double B[l][m])
{
#pragma scop
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < l; k++)
      for (int j = 0; j < m; j++)
        C[i][j] -= A[i][k] * B[k][j];
#pragma endscop
}
static void run_product_in_place(int n)
{
  few_rows(n + 2, n, (void *)room[0], (void *)room[1], (void *)room[2]);
}
