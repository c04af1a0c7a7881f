/* expect: unknown-call 7:13 */
int odd(double);
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        if (odd(A[i]))
            A[i] = 0.0;
#pragma endscop
}
