/* Each thread has a row of its own. Plan: parallel S1.i */
static void rows(int n, int m, double a[n][m], double b[n][m])
{
  double t[64];
#pragma scop
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++)
      t[j] = a[i][j] * 2 - b[i][j];
    for (int j = 0; j < m; j++)
      b[i][j] = t[j] + t[m - 1 - j];
  }
#pragma endscop
}
static void run_private_array(int n)
{
  rows(n, n + 4, (void *)room[0], (void *)room[1]);
}
