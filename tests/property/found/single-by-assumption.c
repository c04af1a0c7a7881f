// What the region assumes of its rows leaves one iteration, so the printed plan has no loop; read again, it was refused.
#include <stdio.h>
void kernel(int n, int m, int ld, long *B, const long *C, long *A)
{
#pragma scop
  for (int i = 0; i < m + 2; i++)
    A[i] &= C[i * ld + i] * C[i * ld + i] % 11;
  for (int i = 0; i <= n; i++) {
    A[i] = C[i * ld + i + 2] * C[2 * i * ld + i] % 101;
    B[i] = C[3 * i + 2];
  }
#pragma endscop
}
int main(void)
{
  static long a[100], b[100], c[4000];
  long sum = 0;
  for (int n = 0; n < 4; n++) {
    for (int i = 0; i < 4000; i++)
      a[i % 100] = i % 19, c[i] = i % 23;
    kernel(n, 6, 20, b, c, a);
    for (int i = 0; i < 100; i++)
      sum = sum * 31 % 1000003 + a[i] + b[i];
  }
  printf("%ld\n", sum);
  return 0;
}
