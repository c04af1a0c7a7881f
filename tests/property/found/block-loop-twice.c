/* A part of a blocked update whose order counts the number of its block once more: two loops of one name. */
#include <stdio.h>
#define N 150
static unsigned short C[N * (N + 40)], A[N][N], B[N * (N + 40)];
static void f(int n, int m, int ld, unsigned short *c, unsigned short *b)
{
#pragma scop
  for (int k = 0; k < m - 1; k++)
    for (int i = k; i < m; i++)
      for (int j = (1 > k - 1 ? 1 : k - 1); j < n; j++) {
        c[i * ld + j + 2] = c[i * ld + j + 2] % 7;
        c[i * ld + j + 2] += A[j][k + 1] * b[i * ld + k + 3];
      }
#pragma endscop
}
int main(void)
{
  for (int i = 0; i < N * (N + 40); i++)
    C[i] = i * 7, B[i] = i * 13;
  for (int i = 0; i < N * N; i++)
    A[i / N][i % N] = i * 5;
  f(N - 20, N, N + 40, C, B);
  f(N, 3, N + 40, C, B);
  unsigned sum = 0;
  for (int i = 0; i < N * (N + 40); i++)
    sum = sum * 31 + C[i];
  printf("%u\n", sum);
  return 0;
}
