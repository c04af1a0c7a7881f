/* expect: unsupported-statement 6:16 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        (void)(A[i] + 1.0);
#pragma endscop
}
