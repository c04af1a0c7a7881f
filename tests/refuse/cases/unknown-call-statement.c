/* expect: unknown-call 8:9 */
void show(double x);
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        A[i] = 0.0;
        show(A[i]);
    }
#pragma endscop
}
