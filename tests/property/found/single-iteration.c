// isl made a loop of a single iteration around statements that do not vary with it; separating them failed.
#include <stddef.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
static inline int imin(int a, int b) { return a < b ? a : b; }
static inline int imax(int a, int b) { return a > b ? a : b; }
void kernel(long n, long m, long ld, int A[n + 40][m + 40], int B[n + 9], int *C)
{
#pragma scop
  for (long i = 1; n >= i; i++) {
    if ((m + 3) >= i) {
      int t1 = ((B[5] ^ B[2]) % 101);
      int t2 = (((A[i][3] & C[(3 * i) * ld + ((2 * i) + 2)]) ^ C[i * ld + 3]) % 101);
      C[(i + 2) * ld + (2 * i)] ^= ((((i + 5) % 2) - C[i * ld + 0]) % 11);
      for (long j = 0; j < m; j++) {
        for (long k = 0; k < (m - 1); k += 3) {
          A[2][(i - 1)] = ((t1 - A[(k + 2)][1]) % 101);
        }
      }
      for (long j = (i + m); j < (i + 2) && j < 4; j = j + 3) {
        int t3 = ((C[(i + 1) * ld + (i + 3)] ^ (t1 - 3)) % 101);
        t2 += (t2 % 11);
        C[((j + 1) + 1) * ld + (j + 2)] = (t2 % 101);
        for (long k = (i > 0 ? i : 0); k <= m; k = k + 2) {
          if ((((2 * j) + k) + 3) != (j + m)) {
            A[((j - 1) + 3)][(j + 2)] = 1;
          }
        }
      }
    }
  }
#pragma endscop
}
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
  long n = 4, m = 5, ld = 60;
  int (*A)[45] = calloc(44, sizeof *A), *B = calloc(13, sizeof *B), *C = calloc(60 * 60, sizeof *C);
  for (int i = 0; i < 44; i++)
    for (int j = 0; j < 45; j++)
      A[i][j] = i * 7 + j;
  for (int i = 0; i < 13; i++)
    B[i] = i * i;
  for (int i = 0; i < 3600; i++)
    C[i] = i % 17;
  kernel(n, m, ld, A, B, C);
  long sum = 0;
  for (int i = 0; i < 44; i++)
    for (int j = 0; j < 45; j++)
      sum = sum * 31 % 1000003 + A[i][j];
  for (int i = 0; i < 3600; i++)
    sum = sum * 31 % 1000003 + C[i];
  printf("%ld\n", sum);
  return 0;
}
