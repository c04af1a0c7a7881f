/* Loops in other forms: downward, while, with steps, through pointers. Plan: parallel S1.i */
static void forms(int n, double *a, double *b)
{
  int i = n - 1, k;
  double *p = a;
#pragma scop
  while (i >= 0) {
    b[i] = a[i] + 1;
    i--;
  }
  for (k = n; k > 0; k -= 3)
    b[k - 1] *= 2;
  for (unsigned j = 0; j < (unsigned)n; ++j)
    *p++ -= b[j];
#pragma endscop
}
static void run_loop_forms(int n)
{
  forms(n * n, room[0], room[1]);
}
