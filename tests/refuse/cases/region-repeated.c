/* expect: region-repeated 11:1 */
#ifndef AGAIN
#define AGAIN
#define NAME f
#include "region-repeated.c"
#undef NAME
#define NAME g
#endif
void NAME(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = 0.0;
#pragma endscop
}
