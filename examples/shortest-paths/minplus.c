#include "minplus.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))

void minplus(int n, int m, int l, int ldc, double c[][ldc], int lda, double a[][lda], int ldb, double b[][ldb])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < l; k++)
                c[i][j] = MIN(c[i][j], a[i][k] + b[k][j]);
#pragma endscop
}
