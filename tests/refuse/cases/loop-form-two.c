/* expect: loop-form 5:5 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0, j = i; i < n; i++)
        A[i] = j;
#pragma endscop
}
