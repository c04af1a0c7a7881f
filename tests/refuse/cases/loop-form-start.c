/* expect: loop-form 5:5 */
void f(int n, int i, double A[n])
{
#pragma scop
    for (; i < n; i *= 2)
        A[i] = 0.0;
#pragma endscop
}
