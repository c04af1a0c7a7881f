/* expect: data-dependent-condition 6:13 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        if (A[i] > 0.0) {
            double t = A[i] + 1.0;
            A[i] = t * t;
        }
#pragma endscop
}
