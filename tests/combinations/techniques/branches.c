/* Conditions on data and on counters. Plan: vector S1.j */
static void choose(int n, int m, int a[n][m], const int b[n][m])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      if (b[i][j] > 0)
        a[i][j] = b[i][j] * 2;
      else if (j > i)
        a[i][j] -= 3;
#pragma endscop
}
static void run_branches(int n)
{
  choose(n, n + 2, (void *)whole[0], (void *)whole[1]);
}
