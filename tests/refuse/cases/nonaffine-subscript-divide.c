/* expect: nonaffine-subscript 7:11 */
void f(int n, int m, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t[100];
        t[i / m] = 0.0;
        A[i] = t[0];
    }
#pragma endscop
}
