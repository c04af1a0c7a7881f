// `*b % 101` was evaluated ahead of the region, though the one variable that gets it is never read: threads had a copy.
#include <stdio.h>
static void kernel(unsigned n, unsigned *a, unsigned *b, unsigned c[100])
{
#pragma scop
  for (unsigned i = 0; i < n; i++) {
    c[i] |= 3;
    a[i] = a[i] % 7 + *b;
  }
  for (unsigned i = 0; i < n; i++) {
    unsigned t = *b % 101;
    t = c[i] = a[i] % 101;
  }
#pragma endscop
}
int main(void)
{
  unsigned a[100], b = 3, c[100];
  for (unsigned i = 0; i < 100; i++)
    a[i] = i * i % 11, c[i] = i;
  kernel(90, a, &b, c);
  unsigned sum = 0;
  for (int i = 0; i < 100; i++)
    sum = sum * 31 + a[i] + c[i];
  printf("%u\n", sum);
  return 0;
}
