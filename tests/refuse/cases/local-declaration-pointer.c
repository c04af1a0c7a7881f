/* expect: local-declaration 6:16 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double *p = A;
        p[i] = 0.0;
    }
#pragma endscop
}
