// A loop with step 2 whose plan shifts S3 by 1: counted in steps, S3 came behind what it has to precede.
#include <stdio.h>
static unsigned short c[64];
unsigned kernel(unsigned n, unsigned m, const unsigned short *b, unsigned short s)
{
  unsigned sum = 0;
#pragma scop
  for (unsigned i = 3; m > i; i += 2) {
    sum -= (s ^ c[(3 * i + n) / 4]) % 101;
    s &= (*b & c[i]) % 101;
    c[i + 1] |= (c[i] - *b + s) % 101;
  }
#pragma endscop
  return sum + s;
}
int main(void)
{
  unsigned short b = 77;
  for (unsigned n = 0; n < 20; n++) {
    for (int i = 0; i < 64; i++)
      c[i] = i * i % 83;
    unsigned sum = kernel(n, 40, &b, 127);
    for (int i = 0; i < 64; i++)
      sum = sum * 31 + c[i];
    printf("%u\n", sum);
  }
  return 0;
}
