/* expect: while-loop 6:9 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        while (A[i] > 1.0)
            A[i] = A[i] * 0.5;
#pragma endscop
}
