/* expect: data-dependent-subscript 7:11 */
void f(int n, double A[n], int p[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t[4];
        t[p[i]] = 0.0;
        A[i] = t[1];
    }
#pragma endscop
}
