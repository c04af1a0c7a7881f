// The clause of the reduction named the member of a struct, which no clause can.
#include <stdio.h>
struct acc { unsigned sum; int most; };
static unsigned kernel(int n, const int a[n])
{
  struct acc acc = {1, 2};
#pragma scop
  for (int i = 0; i < n; i++)
    acc.sum += a[i];
  for (int i = 0; i < n; i++)
    if (a[i] > acc.most)
      acc.most = a[i];
#pragma endscop
  return acc.sum + (unsigned)acc.most;
}
int main(void)
{
  int a[9] = {10, 300, 20, 900, 5, 270, 80, 3, 257};
  for (int n = 0; n <= 9; n++)
    printf("%u ", kernel(n, a));
}
