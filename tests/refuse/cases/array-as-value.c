/* expect: array-as-value 6:16 */
void f(int n, double A[n], double *B)
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = A == B;
#pragma endscop
}
