// The clause of the loop that folds with ^ named the operator of another loop, &.
#include <stdio.h>
static int kernel(int n, unsigned s, const unsigned *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    s ^= a[i];
  for (int i = 0; i < n; i++)
    s &= a[i] | 6;
#pragma endscop
  return (int)s;
}
int main(void)
{
  unsigned a[90];
  for (int i = 0; i < 90; i++)
    a[i] = (unsigned)i * 7919u;
  for (int n = 0; n < 90; n += 11)
    printf("%d ", kernel(n, 5, a));
}
