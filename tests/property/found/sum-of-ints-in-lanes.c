// options: reassociate
// The unsigned copy of `s` hides it in a block; behind the block, readers of the text took `s` for gone.
#include <stdio.h>
static void rows(int n, int m, const int *restrict a, int *restrict b)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int s = b[i];
    for (int j = 0; j < m; j++)
      s += a[i * 20 + j] * a[j];
    b[i] = s;
  }
#pragma endscop
}
int main(void)
{
  int a[400], b[20];
  for (int i = 0; i < 400; i++)
    a[i] = i * 7 % 23 - 9;
  for (int m = 0; m < 20; m += 3) {
    for (int i = 0; i < 20; i++)
      b[i] = i;
    rows(20, m, a, b);
    for (int i = 0; i < 20; i++)
      printf("%d ", b[i]);
    printf("\n");
  }
  return 0;
}
