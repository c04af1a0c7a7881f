// Two parts of an unrolled loop each declared t in the same block.
// plan: skew S2.j by 1*S2.i
// plan: unroll S1.j by 3
#include <stdio.h>
static long kernel(int m, long c, const int *b)
{
#pragma scop
  for (int i = 2; i < m; i++) {
    for (int j = 1; j <= m / 2; j++) {
      long t = (b[i + 2] - (b[j] & 8) + c) % 101;
      c ^= t % 11;
    }
  }
#pragma endscop
  return c;
}
int main(void)
{
  int b[40];
  for (int i = 0; i < 40; i++)
    b[i] = i * 7 % 23;
  for (int m = 0; m < 20; m++)
    printf("%ld ", kernel(m, 5, b));
}
