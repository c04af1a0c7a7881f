#include "cg.h"

int cg(int n, double a[n][n], double b[n], double x[n], double work[3][n], double small, int most)
{
    double *r = work[0], *p = work[1], *q = work[2]; /* residual, direction, A times the direction */
    double rr = 0;
    int steps = 0;

#pragma scop
    for (int i = 0; i < n; i++) {
        r[i] = b[i];
        for (int j = 0; j < n; j++)
            r[i] -= a[i][j] * x[j];
        p[i] = r[i];
        rr += r[i] * r[i];
    }
#pragma endscop
    double enough = small * small * rr;

    for (; steps < most && rr > enough; steps++) {
        double pq = 0, next = 0;
#pragma scop
        for (int i = 0; i < n; i++) {
            q[i] = 0;
            for (int j = 0; j < n; j++)
                q[i] += a[i][j] * p[j];
            pq += p[i] * q[i];
        }
#pragma endscop
        double alpha = rr / pq;
#pragma scop
        for (int i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            next += r[i] * r[i];
        }
#pragma endscop
        double beta = next / rr;
#pragma scop
        for (int i = 0; i < n; i++)
            p[i] = r[i] + beta * p[i];
#pragma endscop
        rr = next;
    }
    return steps;
}
