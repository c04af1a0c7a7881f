/* expect: nonaffine-bound 5:29 */
void f(int n, int m, double A[n])
{
#pragma scop
    for (int i = 0; i < n + A[0]; i++)
        for (int j = 0; j < m; j++)
            A[j] += 1.0;
#pragma endscop
}
