// The guard tested that a flat subscript does not leave its row to the left, but not to the right.
#include <stdio.h>
static void kernel(unsigned n, signed char *d, const unsigned short *a)
{
#pragma scop
  for (int i = 1; i < n; i++)
    for (int j = i + 2; j < n; j++) {
      d[j * n + i] = a[i] % 101;
      d[j * n + i] += d[(j + 1) * n + (i - j + 31)] + d[(i + 1) * n + i];
    }
#pragma endscop
}
int main(void)
{
  for (unsigned n = 0; n < 36; n++) {
    static signed char d[4000];
    unsigned short a[40];
    unsigned long sum = 0;
    for (int k = 0; k < 4000; k++)
      d[k] = (signed char)(k % 31);
    for (int k = 0; k < 40; k++)
      a[k] = (unsigned short)(k * 5);
    kernel(n, d, a);
    for (int k = 0; k < 4000; k++)
      sum = sum * 31 + (unsigned char)d[k];
    printf("%lu ", sum);
  }
}
