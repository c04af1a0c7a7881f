// `9 == A[..]` of a _Bool is printed as 0: the subscript that was to be computed ahead of the loop was then unused.
#include <stdio.h>
static void kernel(_Bool *restrict A, _Bool *restrict s)
{
#pragma scop
  for (int i = 7; i >= 0; i--)
    for (int j = i + 1; j <= 7; j++)
      *s = *s != A[j + 2] && 9 != A[(2 * i - 1) % 2 + 1] ? *s & A[(2 * i - 1) % 2 + 1 ? 1 : 0] : 9 == A[(2 * i - 1) % 2 + 1];
#pragma endscop
}
int main(void)
{
  _Bool a[12], s = 1;
  for (int i = 0; i < 12; i++)
    a[i] = i % 3 > 0;
  kernel(a, &s);
  printf("%d\n", s);
  return 0;
}
