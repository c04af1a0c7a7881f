/* expect: local-declaration 6:23 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        static double t;
        t = A[i];
        A[i] = t + 1.0;
    }
#pragma endscop
}
