// A precaution: a region in which nothing ever runs.
#include <stdio.h>
static void kernel(int n, int a[n])
{
#pragma scop
  if (!(1 / 2 <= 1)) {
    for (int i = 0; i < n; i++)
      a[i] = 3;
    for (int i = 0; i < n; i++)
      a[i] += 4;
  }
#pragma endscop
}
int main(void)
{
  int a[9] = {0};
  kernel(9, a);
  printf("%d\n", a[3]);
}
