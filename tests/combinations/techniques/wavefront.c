/* Sweeps in place: tiles run along diagonals. Plan: pipeline S1.st */
static void in_place(int n, int t, int a[n][n])
{
#pragma scop
  for (int s = 0; s < t; s++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = (a[i - 1][j] + 3 * a[i][j - 1] + a[i][j + 1] - a[i + 1][j]) & 1023;
#pragma endscop
}
static void run_wavefront(int n)
{
  in_place(n, 4, (void *)whole[0]);
}
