/* A matrix that is only read, which is fetched ahead, and a prefetch of the source's own. Plan: product S1 rows j depth i */
static void levels(int n, int m, double a[n][m], double *most)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    __builtin_prefetch(&a[i][0]);
    for (int j = 0; j < m; j++)
      most[j] = a[i][j] > most[j] ? a[i][j] : most[j];
  }
#pragma endscop
}
static void run_prefetch(int n)
{
  levels(n, n + 7, (void *)room[0], room[1]);
}
