/* expect: unknown-name 6:16 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = missing;
#pragma endscop
}
