// The turns of a loop were counted anew before each of them, from a first value that the loop itself changes.
#include <stdio.h>
static void walk(int m, int s, const int *restrict x, int *restrict st)
{
#pragma scop
  for (int k = 0; k < m; k++) {
    int q = k;
    for (int i = q; i < x[k]; i += s)
      q = q + 1;
    st[k] = q;
  }
#pragma endscop
}
static void element(int m, int n, int s, int *restrict st)
{
#pragma scop
  for (int k = 0; k < m; k++) {
    int q[1];
    q[0] = k;
    for (int i = q[0]; i < n; i += s)
      q[0] = q[0] + 1;
    st[k] = q[0];
  }
#pragma endscop
}
int main(void)
{
  int x[9], st[9];
  for (int k = 0; k < 9; k++)
    x[k] = 40 - k;
  for (int s = 1; s < 4; s++) {
    walk(9, s, x, st);
    for (int k = 0; k < 9; k++)
      printf("%d ", st[k]);
    element(9, 31, s, st);
    for (int k = 0; k < 9; k++)
      printf("%d ", st[k]);
    printf("\n");
  }
  return 0;
}
