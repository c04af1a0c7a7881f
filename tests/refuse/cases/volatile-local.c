/* expect: volatile 6:25 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        volatile double t = A[i];
        A[i] = t + 1.0;
    }
#pragma endscop
}
