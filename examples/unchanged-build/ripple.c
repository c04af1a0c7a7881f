#include "ripple.h"

/* Waves on a pond: neighbours pull a cell up or down, and it goes on as it moves. */
void ripple(int steps, int n, double level[n][n], double move[n][n])
{
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        move[i][j] = KEEPS * move[i][j] + SPEED * (level[i - 1][j] + level[i + 1][j] + level[i][j - 1]
                                                   + level[i][j + 1] - 4 * level[i][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        level[i][j] += move[i][j];
  }
#pragma endscop
}
