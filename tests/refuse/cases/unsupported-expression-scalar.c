/* expect: unsupported-expression 6:16 */
void f(int n, double A[n], double x)
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = x[i];
#pragma endscop
}
