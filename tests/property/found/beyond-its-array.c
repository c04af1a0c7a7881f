// The last statement runs for no size for which the first one stays within its array: isl gives it no place in an order.
#include <stdio.h>
static int A[36];
static void kernel(int n, int m)
{
#pragma scop
  for (int i = 3; i <= n + 1; i++)
    for (int j = i + 1; j < n; j++)
      if (i - j + 2 > m - 1) {
        A[i] ^= A[j + i + 1];
        if (3 * j < n && i > 4)
          A[j] = A[j] % 101;
      }
#pragma endscop
}
int main(void)
{
  for (int n = 0; n <= 18; n++) {
    for (int i = 0; i < 36; i++)
      A[i] = 7 * i + n;
    kernel(n, n / 2 - 6);
    for (int i = 0; i < 36; i++)
      printf("%d ", A[i]);
  }
  puts("");
  return 0;
}
