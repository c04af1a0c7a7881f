// A precaution: a variable whose first iteration is written out in parts (see test_proofs_storage.py for the proof).
#include <stdio.h>
static void kernel(int n, int m, unsigned long s, unsigned long *a, unsigned long *b)
{
#pragma scop
  for (int i = 0; i <= n && i <= 9; i++)
    for (int j = 1; j <= n + 1; j++) {
      unsigned long t = (b[j] - s) % 101;
      if (((1 > j - 1) && (i + j + n <= i)) || (((m - (2 * j + i)) / 4 + 2 != m) && (2 * j + i + n > 3))) {
        a[j + 2] = (a[j + 65 - 2 * i] - t) % 101;
        b[j - 1] += (b[i + 2] + a[i]) % 101;
      } else {
        t += b[i + 2] % 101;
        s += a[j + 1] % 101;
      }
    }
#pragma endscop
}
int main(void)
{
  for (int n = 0; n < 9; n++)
    for (int m = 0; m < 9; m++) {
      unsigned long a[90], b[90], sum = 0;
      for (int k = 0; k < 90; k++)
        a[k] = (unsigned long)k * 7, b[k] = (unsigned long)k * 13 + 1;
      kernel(n, m, 5, a, b);
      for (int k = 0; k < 90; k++)
        sum = sum * 31 + a[k] + 7 * b[k];
      printf("%lu ", sum);
    }
}
