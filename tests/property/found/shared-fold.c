// A reduction clause inside a parallel loop wrote s back from iterations that add nothing: a race.
// options: reassociate
// plan: order w, j
// plan: parallel w
// plan: vector j
#include <stdio.h>
static unsigned char kernel(int n, unsigned char s, const unsigned char *a)
{
#pragma scop
  for (int j = 0; j < n; j++)
    for (int w = 0; w < 3; w++)
      if (w == 0)
        s += a[j];
#pragma endscop
  return s;
}
int main(void)
{
  static unsigned char a[100000];
  for (int i = 0; i < 100000; i++)
    a[i] = (unsigned char)(i * 7);
  printf("%d\n", kernel(100000, 5, a));
}
