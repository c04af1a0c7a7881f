// A store counted from a loop that ends up inside the declaration ended in a KeyError in the storage proof.
// plan: tile i:2
// plan: store t in it [i - i: 40]
#include <stdio.h>
static void kernel(int n, int a[n], int b[n])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    int t = a[i] * 3;
    b[i] = t;
    a[i] = t + 1;
  }
#pragma endscop
}
int main(void)
{
  int a[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, b[9] = {0};
  kernel(9, a, b);
  for (int i = 0; i < 9; i++)
    printf("%d %d ", a[i], b[i]);
}
