// Unrolling declared a variable of the loop body several times, or in blocks that do not share it.
// plan: unroll i by 2
#include <stdio.h>
static void kernel(int n, int s, int a[n], int b[n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int t = a[i] * 3;
    if (i != 4)
      b[i] = t;
    a[i] = t + 1;
  }
#pragma endscop
}
int main(void)
{
  int a[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, b[9] = {0};
  kernel(9, 1, a, b);
  for (int i = 0; i < 9; i++)
    printf("%d %d ", a[i], b[i]);
}
