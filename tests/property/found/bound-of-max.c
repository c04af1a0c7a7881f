// The hull of a loop to the larger of two limits has no upper bound, nor one from the smaller of two a lower one.
#include <stdio.h>
static void kernel(long n, long m, long a[64][64])
{
#pragma scop
  for (long i = 0; i < (m > n ? m : n); i++)
    for (long j = 0; j < 3; j++)
      a[i][j] += 2 * i - j;
  for (long i = n; i > 3; i--)
    for (long j = m - i < n - i + 2 ? m - i : n - i + 2; j < 8; j++)
      a[i][j + 30] = a[i][j + 31] + i;
#pragma endscop
}
int main(void)
{
  static long a[64][64];
  unsigned long sum = 0;
  for (long i = 0; i < 64; i++)
    for (long j = 0; j < 64; j++)
      a[i][j] = i * j % 11;
  kernel(20, 9, a);
  kernel(9, 20, a);
  for (long i = 0; i < 64; i++)
    for (long j = 0; j < 64; j++)
      sum = sum * 31 + a[i][j];
  printf("%lu\n", sum);
}
