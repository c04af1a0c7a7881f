/* Shortest paths: a product of minima and sums. Plan: block kb.+product S5 */
static void paths(int n, int d[n][n])
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        d[i][j] = d[i][k] + d[k][j] < d[i][j] ? d[i][k] + d[k][j] : d[i][j];
#pragma endscop
}
static void run_min_plus(int n)
{
  for (int i = 0; i < n * n; i++)
    whole[0][i] = whole[0][i] + 7;
  paths(n, (void *)whole[0]);
}
