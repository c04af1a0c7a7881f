// `break` within the braces of a case, and a region behind a label that jumps lead to, were refused for other reasons
// than they have; the `else` without `continue` takes what follows into its block, where another `t` is.
#include <stdio.h>
static int run(int n, int *restrict a, int *restrict b)
{
  int i = 0;
again:
#pragma scop
  for (int j = 0; j < n; j++) {
    int t = 4;
    switch (j % 4) {
    case 0: a[j] = b[j]; break;
    case 1: { int u = b[j] * 2; a[j] = u + i; break; }
    case 2: break;
    default: a[j] = -1;
    }
    if (a[j] > 6)
      continue;
    else {
      int t = 2;
      b[j] += t;
    }
    a[j] += t;
  }
#pragma endscop
  if (++i < 3)
    goto again;
  return i;
}
int main(void)
{
  int a[20], b[20];
  for (int i = 0; i < 20; i++) {
    a[i] = i;
    b[i] = i * 7 % 5;
  }
  printf("%d\n", run(19, a, b));
  for (int i = 0; i < 20; i++)
    printf("%d %d\n", a[i], b[i]);
  return 0;
}
