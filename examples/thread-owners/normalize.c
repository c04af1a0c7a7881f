#include "normalize.h"

void normalize(int n, int m, double A[n][m], double lo[n], double hi[n])
{
    double span;
#pragma scop
    for (int i = 0; i < n; i++) {
        lo[i] = A[i][0];
        hi[i] = A[i][0];
        for (int j = 1; j < m; j++) {
            lo[i] = A[i][j] < lo[i] ? A[i][j] : lo[i];
            hi[i] = A[i][j] > hi[i] ? A[i][j] : hi[i];
        }
        span = hi[i] - lo[i];
        for (int j = 0; j < m; j++)
            A[i][j] = (A[i][j] - lo[i]) / span;
    }
#pragma endscop
}
