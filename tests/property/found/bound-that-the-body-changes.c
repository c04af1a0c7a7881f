// The bound was taken for what the variable held before the loop, where its value was wanted behind it: the array was
// turned around twice.
#include <stdio.h>
static int turn(int n, int *a)
{
  int i, j;
#pragma scop
  for (i = 0, j = n - 1; i < j; i++, j--) {
    int t = a[i];
    a[i] = a[j];
    a[j] = t;
  }
#pragma endscop
  return 100 * i + j;
}
static int halve(int n, int *a)
{
  int e = n;
#pragma scop
  e = n;
  for (int i = 0; i < e; i++) {
    a[i] += e;
    e = e - a[0];
  }
#pragma endscop
  return e;
}
int main(void)
{
  for (int n = 0; n < 9; n++) {
    int a[12];
    for (int i = 0; i < 12; i++)
      a[i] = i + 1;
    printf("%d", turn(n, a));
    printf(" %d", halve(n, a));
    for (int i = 0; i < 12; i++)
      printf(" %d", a[i]);
    printf("\n");
  }
  return 0;
}
