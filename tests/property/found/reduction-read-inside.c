// The additions to s were spread over i with no clause, and across a statement that reads s half-way.
#include <stdio.h>
static unsigned kernel(int n, unsigned s, unsigned a[6][n], unsigned b[n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    b[i] = s;
    for (int j = 0; j < 6; j++)
      s += a[j][i];
  }
#pragma endscop
  return s;
}
int main(void)
{
  unsigned a[6][20], b[20];
  for (int i = 0; i < 120; i++)
    a[i / 20][i % 20] = (unsigned)i * 7u;
  printf("%u\n", kernel(20, 3, a, b));
  for (int i = 0; i < 20; i++)
    printf("%u ", b[i]);
}
