/* Rows of a sparse matrix, whose bounds are data. Plan: parallel */
static void rows_of(int n, const int *begin, const int *column, const double *value, const double *x, double *y)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = begin[i]; k < begin[i + 1]; k++)
      s += value[k] * x[column[k]];
    y[i] = s;
  }
#pragma endscop
}
static void run_sparse(int n)
{
  for (int i = 0; i <= n; i++)
    whole[3][i] = i * 3 + i % 2;
  rows_of(n, whole[3], order, room[0], room[1], room[2]);
}
