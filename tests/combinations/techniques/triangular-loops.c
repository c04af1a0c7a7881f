/* Loops over a triangle, with nothing to sum. Plan: tile S1.i */
static void mirror(int n, double a[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      a[i][j] = a[j][i] + i - j;
#pragma endscop
}
static void run_triangular_loops(int n)
{
  mirror(n, (void *)room[0]);
}
