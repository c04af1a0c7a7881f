// `s & 3` was a size while the region was read, and none after data had decided about a subscript of `a`.
#include <stdio.h>
static void kernel(int m, int ld, unsigned char *restrict a, long long s)
{
#pragma scop
  for (int i = 0; i < 5; i++)
    a[(i + 1) * ld + (a[i] & 3)] = 6;
  for (long i = 0; i < m; i++)
    a[(s & 3) * ld + (i + 2)] |= 3;
#pragma endscop
}
int main(void)
{
  unsigned char a[100];
  for (int s = 0; s < 5; s++) {
    for (int i = 0; i < 100; i++)
      a[i] = i * i % 11;
    kernel(6, 10, a, s);
    unsigned sum = 0;
    for (int i = 0; i < 100; i++)
      sum = sum * 31 + a[i];
    printf("%u\n", sum);
  }
  return 0;
}
