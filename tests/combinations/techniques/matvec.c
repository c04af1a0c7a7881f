/* A matrix-vector product. Plan: product S2 rows i depth j */
static void times_vector(int n, int m, double A[n][m], double x[m], double y[n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double t = 0;
    for (int j = 0; j < m; j++)
      t += A[i][j] * x[j];
    y[i] = 3 * t + y[i];
  }
#pragma endscop
}
static void run_matvec(int n)
{
  times_vector(n + 1, n, (void *)room[0], room[1], room[2]);
}
