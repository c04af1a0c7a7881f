/* expect: unsupported-expression 6:10 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        (i ? A[i] : A[0]) = 0.0;
#pragma endscop
}
