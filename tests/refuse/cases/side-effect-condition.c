/* expect: side-effect 7:28 */
void f(int n, double A[n])
{
    double t;
#pragma scop
    for (int i = 0; i < n; i++)
        if (A[i] < 9.0 && (t = A[i]) > 0.0)
            A[i] = 0.0;
#pragma endscop
}
