// x ^= e on a _Bool turns every odd or even e into 1 first, so the order matters.
#include <stdio.h>
static int kernel(int n, _Bool s, const int a[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    s ^= a[i];
#pragma endscop
  return s;
}
int main(void)
{
  int a[6] = {1, 2, 1, 1, 2, 1};
  for (int n = 0; n <= 6; n++)
    printf("%d ", kernel(n, 0, a));
  int b[6] = {2, 2, 2, 2, 2, 2};
  for (int n = 0; n <= 6; n++)
    printf("%d ", kernel(n, 0, b));
}
