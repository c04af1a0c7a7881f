/* expect: local-declaration 6:16 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t[i + 1];
        t[i] = A[i];
        A[i] = t[i] * 2.0;
    }
#pragma endscop
}
