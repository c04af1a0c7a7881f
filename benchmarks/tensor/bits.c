/* The product of Boolean matrices, one word of them per element. */
#include <stdint.h>

#ifndef WORD
#define WORD uint64_t
#endif
typedef WORD word;

void or_and(long n, word C[n][n], word A[n][n], word B[n][n])
{
#pragma scop
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++)
            for (long l = 0; l < n; l++)
                C[i][j] |= A[i][l] & B[l][j];
#pragma endscop
}
