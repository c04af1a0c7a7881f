/* expect: loop-form 5:5 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0, j = 0; i < n; i++)
        A[i] = 0.0;
#pragma endscop
}
