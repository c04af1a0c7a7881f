// A statement that never runs, beside the final values of counters, made the generator crash.
#include <stdio.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
static int kernel(int n, int m, int s)
{
  int i = 7, j = 7, k = 7;
#pragma scop
  for (i = n; i > 2; i -= 3)
    for (j = i + 2; j <= MIN(m + 1, i - 2); j++)
      for (k = j + 1; k < i + 1; k++)
        s = 2;
#pragma endscop
  return s + i + j + k;
}
int main(void)
{
  printf("%d\n", kernel(9, 8, 5));
}
