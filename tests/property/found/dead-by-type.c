// A statement that could run only for a negative unsigned n was scheduled away: KeyError in the order check.
#include <stdio.h>
static int kernel(unsigned n, int s)
{
#pragma scop
  if (!(0 != n + 1)) {
    for (int i = 3; i >= 0; i -= 2)
      s &= 5;
  } else {
    for (int i = 0; i < (n + 1) / 2; i += 3) {
      int t = s % 101;
      s = t + 1;
    }
  }
#pragma endscop
  return s;
}
int main(void)
{
  printf("%d\n", kernel(9, 1));
}
