/* Integer products; the sums may be wider than the factors. */
#ifndef FACTOR
#define FACTOR short
#define SUM short
#endif
typedef FACTOR factor;
typedef SUM sum;

void mul_add(long n, sum C[n][n], factor A[n][n], factor B[n][n])
{
#pragma scop
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            for (long l = 0; l < n; l++)
                C[i][j] += A[i][l] * B[l][j];
#pragma endscop
}
