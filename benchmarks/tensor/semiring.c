/* Matrix products over other semirings than (+, *). */
#include <math.h>

#ifdef SINGLE
typedef float real;
#define FMIN fminf
#define FMAX fmaxf
#else
typedef double real;
#define FMIN fmin
#define FMAX fmax
#endif

void min_plus(long n, real C[n][n], real A[n][n], real B[n][n])
{
#pragma scop
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            for (long l = 0; l < n; l++)
                C[i][j] = FMIN(C[i][j], A[i][l] + B[l][j]);
#pragma endscop
}

void max_plus(long n, real C[n][n], real A[n][n], real B[n][n])
{
#pragma scop
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            for (long l = 0; l < n; l++)
                C[i][j] = FMAX(C[i][j], A[i][l] + B[l][j]);
#pragma endscop
}

void max_times(long n, real C[n][n], real A[n][n], real B[n][n])
{
#pragma scop
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            for (long l = 0; l < n; l++)
                C[i][j] = FMAX(C[i][j], A[i][l] * B[l][j]);
#pragma endscop
}

void min_times(long n, real C[n][n], real A[n][n], real B[n][n])
{
#pragma scop
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            for (long l = 0; l < n; l++)
                C[i][j] = FMIN(C[i][j], A[i][l] * B[l][j]);
#pragma endscop
}

void min_max(long n, real C[n][n], real A[n][n], real B[n][n])
{
#pragma scop
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            for (long l = 0; l < n; l++)
                C[i][j] = FMIN(C[i][j], FMAX(A[i][l], B[l][j]));
#pragma endscop
}

void max_min(long n, real C[n][n], real A[n][n], real B[n][n])
{
#pragma scop
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            for (long l = 0; l < n; l++)
                C[i][j] = FMAX(C[i][j], FMIN(A[i][l], B[l][j]));
#pragma endscop
}
