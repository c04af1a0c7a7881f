/* expect: pointer-unknown 8:13 */
void f(int n, double A[n], double B[n])
{
    double *p = B;
#pragma scop
    for (int i = 0; i < n; i++) {
        if (A[i] > 0.0)
            p++;
        A[i] = *p;
    }
#pragma endscop
}
