/* expect: loop-form 5:5 */
void f(int n, int s, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i += s)
        A[i] = 0.0;
#pragma endscop
}
