/* expect: data-dependent-subscript 7:11 */
void f(int n, double A[n])
{
    int k;
#pragma scop
    for (int i = 0; i < n; i++)
        A[k] = k = i;
#pragma endscop
}
