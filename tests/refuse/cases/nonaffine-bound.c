/* expect: nonaffine-bound 5:25 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n * n; i++)
        A[i] = 0.0;
#pragma endscop
}
