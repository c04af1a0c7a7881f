// No order was proven, not even the source's: `t` is used where it has no storage.
#include <stdio.h>
static void kernel(int m, int s, const int *a)
{
#pragma scop
  for (int i = 0; (m - 2) / 2 >= i; i++) {
    int t = s - a[1];
  }
#pragma endscop
}
int main(void)
{
  int a[2] = {1, 2};
  kernel(9, 5, a);
  printf("%d\n", a[1]);
}
