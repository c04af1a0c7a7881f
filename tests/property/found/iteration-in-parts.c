// The use of `t` runs in the last iteration only, so isl puts it behind the loop, out of reach of the value.
#include <stdio.h>
static void kernel(int n, int b[40])
{
#pragma scop
  for (int i = n - 2; i > 0; i -= 3) {
    int t = b[i + 20];
    for (int j = i; j < 3; j += 3)
      b[j] = t;
  }
#pragma endscop
}
int main(void)
{
  int b[40], sum = 0;
  for (int i = 0; i < 40; i++)
    b[i] = i * i % 17;
  for (int n = 0; n < 18; n++) {
    kernel(n, b);
    for (int i = 0; i < 40; i++)
      sum = sum * 3 % 1000003 + b[i];
  }
  printf("%d\n", sum);
}
