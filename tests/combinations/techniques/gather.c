/* Subscripts that data choose, beside a part that is affine. Plan: vector S1.j */
static void gather(int n, int m, double a[n][m], const double *b, const int *at)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      a[i][j] += 2;
      a[i][j] *= b[at[j + i]] + 1;
    }
#pragma endscop
}
static void run_gather(int n)
{
  gather(n, n + 1, (void *)room[0], room[1], order);
}
