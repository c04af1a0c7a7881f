/* expect: unknown-call 7:16 */
double next(double x);
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = next(A[i]);
#pragma endscop
}
