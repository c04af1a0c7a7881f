/* expect: pointer-arithmetic 6:10 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        ((int *)A)[i] = 0;
#pragma endscop
}
