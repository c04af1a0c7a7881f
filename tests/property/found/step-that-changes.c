// The turns of a loop were counted by its step, which the loop itself changes in memory.
#include <stdio.h>
static void walk(int n, int m, int *restrict st)
{
#pragma scop
  for (int k = 0; k < m; k++) {
    st[k] = 1;
    for (int i = 0; i < n; i += st[k])
      st[k] = st[k] + 1;
  }
#pragma endscop
}
int main(void)
{
  int st[9];
  for (int n = 0; n < 40; n += 3) {
    walk(n, 9, st);
    for (int k = 0; k < 9; k++)
      printf("%d ", st[k]);
    printf("\n");
  }
  return 0;
}
