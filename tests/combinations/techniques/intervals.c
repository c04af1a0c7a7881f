/* Dynamic programming over intervals. Plan: schedule */
static void intervals(int n, int t[n][n], const int *w)
{
#pragma scop
  for (int i = n - 1; i >= 0; i--)
    for (int j = i + 1; j < n; j++) {
      t[i][j] = t[i + 1][j] > t[i][j - 1] ? t[i + 1][j] : t[i][j - 1];
      for (int k = i + 1; k < j; k++)
        t[i][j] = t[i][k] + t[k + 1][j] + w[k] > t[i][j] ? t[i][k] + t[k + 1][j] + w[k] : t[i][j];
    }
#pragma endscop
}
static void run_intervals(int n)
{
  intervals(n, (void *)whole[0], whole[1]);
}
