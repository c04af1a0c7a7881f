/* A factorization and a solve, with divisors that are powers of two. Plan: block kb.+product S7 */
static void factor(int n, double L[n][n], double b[n])
{
#pragma scop
  for (int k = 0; k < n; k++) {
    for (int i = k + 1; i < n; i++)
      L[i][k] = L[i][k] / L[k][k];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++)
        L[i][j] -= L[i][k] * L[k][j];
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      b[i] -= L[i][j] * b[j];
#pragma endscop
}
static void run_solve(int n)
{
  /* A product of triangles of ones: whatever is computed is whole. */
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      room[0][i * n + j] = (i < j ? i : j) + 1;
  for (int i = 0; i < n; i++)
    room[1][i] = i < 20;
  factor(n, (void *)room[0], room[1]);
}
