/* Sums in any order. Plan: tile S1.i:4096 */
static double sums(int n, const double *a, const double *b, double *most)
{
  double s = 0, m = a[0];
#pragma tilewright reassociate
#pragma scop
  for (int i = 0; i < n; i++) {
    s += a[i] * b[i];
    m = a[i] > m ? a[i] : m;
  }
#pragma endscop
  *most = m;
  return s;
}
static void run_reduction(int n)
{
  room[2][0] = sums(n * n, room[0], room[1], &room[2][1]);
}
