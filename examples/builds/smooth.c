#include "grid.h"

/* Every inner point becomes a weighted mean of its neighbours. */
void smooth(int n, double out[n][n], double in[n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      out[i][j] = CENTRE * in[i][j] + SIDE * (in[i - 1][j] + in[i + 1][j] + in[i][j - 1] + in[i][j + 1]);
#pragma endscop
}
