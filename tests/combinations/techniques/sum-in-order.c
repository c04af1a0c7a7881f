/* A sum in the order of the source, and prefix sums. Plan: scalar_replace S1.i */
static void prefixes(int n, double *a, double *s)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    *s += a[i];
    a[i] = *s;
  }
#pragma endscop
}
static void run_sum_in_order(int n)
{
  prefixes(n * n, room[0], &room[1][3]);
}
