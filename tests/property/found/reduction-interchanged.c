// After interchange the inner loop adds to s for every i, but no reduction clause was printed: a race.
// plan: order j, i
// plan: parallel i
#include <stdio.h>
static unsigned kernel(int n, unsigned s, unsigned a[n][3])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 3; j++)
      s += a[i][j];
#pragma endscop
  return s;
}
static unsigned a[90000][3];
int main(void)
{
  for (int i = 0; i < 270000; i++)
    a[i / 3][i % 3] = (unsigned)i * 7u;
  printf("%u\n", kernel(90000, 3, a));
}
