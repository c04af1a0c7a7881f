#include "turn.h"

void turn(int n, int m, const float in[n][m], float out[m][n], const float w[m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            out[j][n - 1 - i] = w[j] * in[i][j];
#pragma endscop
}
