/* expect: nonaffine-bound 5:21 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i * 2 != n; i++)
        A[i] = 0.0;
#pragma endscop
}
