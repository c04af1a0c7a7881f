// Multiplying an unsigned variable by doubles rounds at every step, so the order matters.
#include <stdio.h>
static unsigned kernel(int n, unsigned s, const double a[n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    s *= a[i];
#pragma endscop
  return s;
}
int main(void)
{
  double a[12] = {2.5, 1.5, 0.75, 1.25, 3.5, 1.5, 0.5, 1.75, 2.5, 0.9, 1.1, 1.3};
  printf("%u\n", kernel(12, 7, a));
}
