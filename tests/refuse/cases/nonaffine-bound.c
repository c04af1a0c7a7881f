/* expect: nonaffine-bound 6:29 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i * n; j++)
            A[j] = 0.0;
#pragma endscop
}
