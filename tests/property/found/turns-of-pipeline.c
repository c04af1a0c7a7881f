// plan: tile k:0
// plan: pipeline S1.j along S1.k
// The loop over turns has a `j` of its own, so that the function's was unused.
#include <stdio.h>
static unsigned long A[4][32];
static int kernel(int n, int m)
{
  int i, j = 7, k = 7;
#pragma scop
  for (i = m - 2; i > 0; i = i - 1)
    for (j = 0; 3 >= j; j = j + 3)
      for (k = j + 1; k <= n; k++)
        A[j][i] *= 8;
#pragma endscop
  return i;
}
int main(void)
{
  unsigned long sum = 0;
  for (int j = 0; j < 4; j++)
    for (int i = 0; i < 32; i++)
      A[j][i] = i + 3 * j + 1;
  sum += kernel(9, 20);
  for (int j = 0; j < 4; j++)
    for (int i = 0; i < 32; i++)
      sum = sum * 31 + A[j][i];
  printf("%lu\n", sum);
  return 0;
}
