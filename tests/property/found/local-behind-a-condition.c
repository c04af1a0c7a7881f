// No order was proven: reads behind a condition that never holds counted as reads of every iteration.
#include <stdio.h>

void kernel(int n, int *A, int *B)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int t[2], u;
    for (int w = 0; w < 2; w++)
      t[w] = A[i] + w;
    u = B[i];
    for (int k = 0; k < n; k++) {
      if (B[k] > 0) { if (3 <= 1 && t[(i + 3) % 2] <= A[i]) A[i]++; else A[i] = A[i] + k; }
      B[i] += k < 2 ? t[k] : u;
    }
  }
#pragma endscop
}

int main(void)
{
  int A[9], B[9];
  for (int i = 0; i < 9; i++)
    A[i] = 3 * i - 5, B[i] = 7 - 2 * i;
  kernel(9, A, B);
  for (int i = 0; i < 9; i++)
    printf("%d %d\n", A[i], B[i]);
  return 0;
}
