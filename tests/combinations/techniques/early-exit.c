/* Searches that end where they find something, one for each row. Plan: parallel */
static void find(int n, int m, const int a[n][m], int *at)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    at[i] = -1;
    for (int j = 0; j < m; j++)
      if (a[i][j] > 4) {
        at[i] = j;
        break;
      }
  }
#pragma endscop
}
static void run_early_exit(int n)
{
  find(n, n + 2, (const void *)whole[0], whole[1]);
}
