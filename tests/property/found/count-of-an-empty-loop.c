// How often a loop over unsigned numbers adds to `s`: where it does not run at all, their difference wraps around.
#include <stdio.h>
static long long kernel(unsigned n, unsigned m, long long s)
{
  int i = 7;
  unsigned char j = 7;
#pragma scop
  for (i = 3; i < (n + 2); i = i + 1) {
    for (j = (m + 2); j > 2; j -= 1)
      s++;
  }
#pragma endscop
  return s + i;
}
int main(void)
{
  for (unsigned n = 0; n < 6; n++)
    for (unsigned m = 0; m < 4; m++)
      printf("%lld\n", kernel(n, m, 100));
  return 0;
}
