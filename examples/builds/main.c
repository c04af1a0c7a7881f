/* Smooths a plane, which must stay as it is: the mean of its neighbours is the point itself. */
#include <math.h>
#include <stdio.h>
#include "grid.h"

#define N 101
static double in[N][N], out[N][N];

int main(void)
{
  double off = 0.0;
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      in[i][j] = 2.0 * i + j;
#pragma endscop
  smooth(N, out, in);
  for (int i = 1; i < N - 1; i++)
    for (int j = 1; j < N - 1; j++)
      off = fmax(off, fabs(out[i][j] - (CENTRE + 4 * SIDE) * in[i][j]));
  printf("smooth: %s\n", off < 1e-9 ? "ok" : "wrong");
  return off >= 1e-9;
}
