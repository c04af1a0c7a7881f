/* expect: counter-after-loop 8:13 */
int f(int n, double A[n])
{
    int k = 0;
#pragma scop
    for (int i = 0; i < n; i++)
        if (A[i] > 0.0)
            for (k = 0; k < i; k++)
                A[k] = 0.0;
#pragma endscop
    return k;
}
