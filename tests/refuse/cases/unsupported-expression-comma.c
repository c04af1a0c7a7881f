/* expect: unsupported-expression 6:17 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = (n, 1.0);
#pragma endscop
}
