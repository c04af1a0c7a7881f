// isl's flow analysis fails on this; the tool finds last writers its own way there.
#include <stdio.h>
static void kernel(int n, int m, unsigned short *a, const signed char *b)
{
  short i, j;
#pragma scop
  for (i = m + 1; i >= 0; i -= 2)
    for (j = i - 1 > 0 ? i - 1 : 0; j < 3; j++)
      a[0] *= b[j + i + n + 3];
#pragma endscop
}
int main(void)
{
  unsigned short a = 3;
  signed char b[60];
  for (int i = 0; i < 60; i++)
    b[i] = i % 7 + 1;
  kernel(9, 8, &a, b);
  printf("%d\n", a);
}
