/* expect: unknown-call 6:16 */
void f(int n, double A[n], double (*g)(double))
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = g(A[i]);
#pragma endscop
}
