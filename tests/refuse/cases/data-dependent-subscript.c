/* expect: data-dependent-subscript 6:11 */
void f(int n, double A[n], int p[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[p[i]] = 0.0;
#pragma endscop
}
