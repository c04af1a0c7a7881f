/* expect: unknown-call 6:19 */
static double sum(int n, const double *a)
{
    if (n == 0)
        return 0.0;
    return a[0] + sum(n - 1, a + 1);
}
void f(int n, double *restrict A, const double *restrict B)
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = sum(i, B);
#pragma endscop
}
