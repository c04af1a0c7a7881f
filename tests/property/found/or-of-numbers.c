// A product with `|` in it: its kernel, read back, seemed to join masks instead of numbers, and was not proven.
#include <stdint.h>
#include <stdio.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void kernel(int n, int m, int ld, uint16_t C[n + 38][m + 38], const int *A, const unsigned long *B)
{
#pragma scop
  for (int n2 = m - 1; n2 >= 0; n2--)
    for (int row = 0; row < n + 2; row++)
      for (int b = n - 1; b >= 2; b--)
        C[n2][n + 1 - row] = MIN(C[n2][n + 1 - row], A[b * ld + 2 * row] | (unsigned long)(B[n2 * ld + b] + 1));
#pragma endscop
}
int main(void)
{
  static uint16_t c[71][71];
  static int a[5000];
  static unsigned long b[5000];
  unsigned sum = 0;
  for (int i = 0; i < 5000; i++)
    a[i] = i * 7 % 1000, b[i] = i * 31 % 4000;
  for (int i = 0; i < 71; i++)
    for (int j = 0; j < 71; j++)
      c[i][j] = 900 + i * j % 50;
  kernel(33, 33, 70, c, a, b);
  for (int i = 0; i < 71; i++)
    for (int j = 0; j < 71; j++)
      sum = sum * 31 + c[i][j];
  printf("%u\n", sum);
  return 0;
}
