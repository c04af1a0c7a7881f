/* Two matrix-vector products of one matrix, along its rows and its columns. Plan:  pair 8 */
static void both_ways(int n, int m, double A[n][m], double q[n], double p[m], double s[m], double r[n])
{
#pragma scop
  for (int j = 0; j < m; j++)
    s[j] = 0;
  for (int i = 0; i < n; i++) {
    q[i] = 0;
    for (int j = 0; j < m; j++) {
      s[j] += r[i] * A[i][j];
      q[i] += A[i][j] * p[j];
    }
  }
#pragma endscop
}
static void run_matvec_pair(int n)
{
  both_ways(n, n + 5, (void *)room[0], room[1], room[2], room[3], room[4]);
}
