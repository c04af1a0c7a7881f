/* Copies that change the order of dimensions. Plan: tile S1.i */
static void turn(int n, int m, double a[n][m], double b[m][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[j][i] = a[i][j];
#pragma endscop
}
static void run_transpose(int n)
{
  turn(n, n + 9, (void *)room[0], (void *)room[1]);
}
