/* expect: pointer-arithmetic 6:17 */
void f(int n, double A[n], double *B)
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = &A[i] == B;
#pragma endscop
}
