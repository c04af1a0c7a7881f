/* expect: iterator-modified 5:5 */
void f(int n, int i, double A[n])
{
#pragma scop
    for (i = 0; i < n; i++)
        A[i] = 0.0;
    i = 7;
#pragma endscop
}
