// A pointer that only the region uses was made an array of each iteration: what was stored through it was lost.
#include <stdio.h>
static void kernel(int n, float *a, const float *b)
{
  float *last = a;
#pragma scop
  for (int i = 0; i < n; i++)
    last[1] = b[i];
#pragma endscop
}
int main(void)
{
  float a[2] = {1, 2}, b[40];
  for (int i = 0; i < 40; i++)
    b[i] = i;
  kernel(40, a, b);
  printf("%g %g\n", a[0], a[1]);
}
