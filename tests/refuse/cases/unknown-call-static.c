/* expect: unknown-call 12:16 */
static double next(double *last)
{
    static int calls;
    *last += ++calls;
    return *last;
}
void f(int n, double *restrict A, double *restrict B)
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = next(B);
#pragma endscop
}
