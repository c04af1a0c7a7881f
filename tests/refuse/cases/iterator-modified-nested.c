/* expect: iterator-modified 6:9 */
void f(int n, int i, double A[n])
{
#pragma scop
    for (i = 0; i < n; i++)
        for (i = 0; i < n; i++)
            A[i] = 0.0;
#pragma endscop
}
