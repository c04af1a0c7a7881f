// A dependence that exists only outside the guard made the tool refuse its own order as the user's error.
#include <stdio.h>
static void kernel(int n, int ld, long long *b)
{
#pragma scop
  for (int i = 0; i < n; i += 1)
    for (int j = 2; j != 6; j++)
      for (int k = 0; k < n; k++) {
        b[j * ld + j - i + 30] += b[j * ld + 3 * k + 2 * j + 2] % 11;
        b[i * ld + i - j + 5] = b[(j + 2) * ld + i] % 101;
        b[ld + k + 2] = (b[(3 * k - i + 32) * ld + 2] + (j + 5) / 4) % 101;
      }
#pragma endscop
}
static long long b[40000];
int main(void)
{
  unsigned long sum = 0;
  for (int i = 0; i < 40000; i++)
    b[i] = i % 91;
  kernel(9, 110, b);
  for (int i = 0; i < 40000; i++)
    sum = sum * 31 + (unsigned long)b[i];
  printf("%lu\n", sum);
}
