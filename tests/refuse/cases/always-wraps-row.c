/* expect: always-wraps 7:13 */
void f(int n, int m, double *A)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = m; j < 3 * m; j++)
            A[i * m + j] = 0.0;
#pragma endscop
}
