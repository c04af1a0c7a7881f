/* expect: side-effect 6:23 */
void f(int n, double A[n], double B[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = 2.0 * (B[i] = 0.0);
#pragma endscop
}
