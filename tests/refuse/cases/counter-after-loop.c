/* expect: counter-after-loop 9:12 */
void f(int n, double A[n])
{
    int i;
#pragma scop
    if (A[0] > 0.0)
        for (i = 0; i < n; i++)
            A[i] = 0.0;
    A[0] = i;
#pragma endscop
}
