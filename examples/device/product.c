/* A matrix product in tiles: registers, shared memory and, in double, matrix units of the device. */
#include <stdio.h>
#include <stdlib.h>

static void product(int n, double A[n][n], double B[n][n], double C[n][n])
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}

int main(int argc, char **argv)
{
  const int n = argc > 1 ? atoi(argv[1]) : 70;
  double (*A)[n] = calloc((size_t)n, sizeof *A), (*B)[n] = calloc((size_t)n, sizeof *B), (*C)[n] = calloc((size_t)n, sizeof *C);
  int wrong = 0;
  if (n < 1 || !A || !B || !C)
    return 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      A[i][j] = (i + 2 * j) % 7, B[i][j] = (3 * i + j) % 5; /* sums are whole numbers, and exact */
  product(n, A, B, C);
  for (int i = 0; i < n; i += 1 + n / 20)
    for (int j = 0; j < n; j += 1 + n / 20) {
      double sum = 0;
      for (int k = 0; k < n; k++)
        sum += A[i][k] * B[k][j];
      wrong += sum != C[i][j];
    }
  printf("product of %d x %d matrices: %s\n", n, n, wrong ? "DIFFERENT" : "equal to the plain loops");
  free(A);
  free(B);
  free(C);
  return wrong != 0;
}
