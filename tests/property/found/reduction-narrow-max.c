// The larger of a byte and an int is cut to a byte at every step, so the order matters.
#include <stdio.h>
static inline int max(int a, int b) { return a > b ? a : b; }
static int kernel(int n, unsigned char s, const int a[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    s = max(s, a[i]);
#pragma endscop
  return s;
}
int main(void)
{
  int a[9] = {10, 300, 20, 900, 5, 270, 80, 3, 257};
  for (int n = 0; n <= 9; n++)
    printf("%d ", kernel(n, 1, a));
}
