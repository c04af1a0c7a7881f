// One statement uses two elements of an array that another one gathers in: not even the source's order was proven.
#include <stdio.h>
static void kernel(int n, unsigned A[][8], unsigned *B)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    unsigned t[3];
    t[0] = i;
    for (int j = 0; j < 8; j++)
      t[0] += A[i][j];
    t[1] = t[0];
    B[i] = t[1] ^ t[0] / 3;
  }
#pragma endscop
}
int main(void)
{
  unsigned A[9][8], B[9];
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 8; j++)
      A[i][j] = 100 * i + 7 * j;
  kernel(9, A, B);
  for (int i = 0; i < 9; i++)
    printf("%u ", B[i]);
  puts("");
  return 0;
}
