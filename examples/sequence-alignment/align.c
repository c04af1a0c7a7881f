#include "align.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))

int align(int n, int m, const char x[n], const char y[m], int D[n + 1][m + 1])
{
#pragma scop
    for (int i = 0; i <= n; i++)
        D[i][0] = GAP * i;
    for (int j = 1; j <= m; j++)
        D[0][j] = GAP * j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++)
            D[i][j] = MIN(MIN(D[i - 1][j], D[i][j - 1]) + GAP, D[i - 1][j - 1] + (x[i - 1] == y[j - 1] ? 0 : OTHER));
#pragma endscop
    return D[n][m];
}
