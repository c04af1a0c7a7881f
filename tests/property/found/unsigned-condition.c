// m != 0 became m <= -1 || m >= 1, which is always true for an unsigned m.
#include <stdio.h>
static void kernel(unsigned n, unsigned m, int a[n])
{
#pragma scop
  if (m != 0)
    for (unsigned i = 0; i < n; i++)
      a[i] = 1;
#pragma endscop
}
int main(void)
{
  int a[9] = {0};
  kernel(9, 0, a);
  printf("%d %d\n", a[0], a[8]);
}
