// What is left of a division is known only where it is evaluated.
#include <stdio.h>
static void kernel(int n, int m, float *A)
{
#pragma scop
  for (int i = 1; i <= m + 2; i++)
    A[(i * i) & 7] = (3 == n + 5 ? A[n % (m + 5) + 4] : 3) * A[i];
#pragma endscop
}
int main(void)
{
  float A[24];
  for (int n = -3; n <= 9; n += 1) {
    for (int i = 0; i < 24; i++)
      A[i] = i + n;
    kernel(n, 9, A);
    for (int i = 0; i < 24; i++)
      printf("%g ", A[i]);
  }
  puts("");
  return 0;
}
