/* Counts: what is stored is chosen by data. Plan: schedule */
static void count(int n, const int *a, int *of)
{
#pragma scop
  for (int i = 0; i < n; i++)
    of[a[i] + 6]++;
#pragma endscop
}
static void run_scatter(int n)
{
  count(n * n, whole[0], whole[1]);
}
