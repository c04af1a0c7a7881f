// Enumerators of inner blocks were taken for the variable or the enumerator that they hide.
#include <stdio.h>
enum { Z = 11 };
static void hidden(int n, int *restrict b)
{
#pragma scop
  for (int k = 0; k < n; k++) {
    {
      enum { k = 2 };
      b[k] += 1;
    }
    b[k] += 5;
  }
#pragma endscop
}
static int three(int x)
{
  enum { Z = 3 };
  int s = 0;
  for (int i = 0; i < Z; i++)
    s += x;
  return s;
}
static void called(int n, int *restrict a)
{
#pragma scop
  for (int k = 0; k < n; k++)
    a[k] += Z + three(k);
#pragma endscop
}
static int other(int n)
{
  enum { n_of_others = 4 };
  return n + n_of_others;
}
static void parameter(int n_of_others, int *restrict a)
{
#pragma scop
  for (int k = 0; k < n_of_others; k++)
    a[k] += n_of_others;
#pragma endscop
}
int main(void)
{
  int a[9] = {0}, b[9] = {0};
  hidden(9, b);
  called(9, a);
  parameter(7, a);
  for (int k = 0; k < 9; k++)
    printf("%d %d ", a[k], b[k]);
  printf("%d\n", other(1));
  return 0;
}
