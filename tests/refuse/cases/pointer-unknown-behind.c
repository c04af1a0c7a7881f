/* expect: pointer-unknown 6:9 */
double *f(int n, double A[n], double *p)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        p = A + i;
        *p = 0.0;
    }
#pragma endscop
    return p;
}
