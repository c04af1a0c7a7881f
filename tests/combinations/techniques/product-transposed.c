/* A product whose right operand lies in columns. Plan: product */
static void transposed(int n, float C[n][n], float A[n][n], float B[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[j][k];
#pragma endscop
}
static float small[3][40][40];
static void run_product_transposed(int n)
{
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 40 * 40; i++)
      (&small[a][0][0])[i] = (float)room[a][i];
  transposed(n, (void *)small[0], (void *)small[1], (void *)small[2]);
  for (int i = 0; i < n * n; i++)
    room[0][i] = (&small[0][0][0])[i];
}
