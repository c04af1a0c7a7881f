// The partial tile declared t once per statement instead of once for all of them.
// plan: tile i:2 full
#include <stdio.h>
static unsigned short kernel(int n, int m, unsigned short s, int a[n], int b[n])
{
#pragma scop
  for (int i = 2; i <= n - 2; i++) {
    if (m != i)
      s = a[i] + s;
    int t = s & 7;
    b[i] += t;
    a[i] = t + 1;
  }
#pragma endscop
  return s;
}
int main(void)
{
  for (int n = 2; n < 9; n++) {
    int a[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, b[9] = {0};
    printf("%d ", kernel(n, 4, 3, a, b));
    for (int i = 0; i < 9; i++)
      printf("%d %d ", a[i], b[i]);
  }
}
