/* expect: data-dependent-condition 6:13 */
void f(int n, double A[n], double B[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        if (A[i] > 0.0)
            A[i] = 0.0;
        else
            B[i] = 0.0;
#pragma endscop
}
