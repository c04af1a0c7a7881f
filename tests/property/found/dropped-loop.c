// The loop over j runs once and is dropped; what it declares still belongs into the loop around it.
#include <stdio.h>
static void kernel(int n, int a[40], int b[40])
{
#pragma scop
  for (int i = 0; i < n + 2; i += 3) {
    int t = b[i];
    for (int j = i - 1; i >= j; j += 3) {
      t = a[j + 1];
      int u = a[j + 2];
    }
  }
#pragma endscop
}
int main(void)
{
  int a[40], b[40], sum = 0;
  for (int i = 0; i < 40; i++)
    a[i] = i * i % 17, b[i] = i % 5;
  kernel(30, a, b);
  for (int i = 0; i < 40; i++)
    sum = sum * 3 % 1000003 + b[i];
  printf("%d\n", sum);
}
