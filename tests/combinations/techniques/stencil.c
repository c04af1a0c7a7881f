/* Sweeps of a stencil in tiles over time. Plan: tile S1.s:\d */
static void sweeps(int n, int t, double a[n][n], double b[n][n])
{
#pragma scop
  for (int s = 0; s < t; s++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
}
static void run_stencil(int n)
{
  sweeps(n, 5, (void *)room[0], (void *)room[1]);
}
