/* expect: pointer-unknown 6:16 */
void f(int n, int k, double A[n], double B[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double *p = k++ > 2 ? A : B;
        p[i] = 0.0;
    }
#pragma endscop
}
