/* expect: loop-form 5:5 */
void f(int n, double A[n])
{
#pragma scop
    for (double x = 0; x < n; x += 1)
        A[0] = x;
#pragma endscop
}
