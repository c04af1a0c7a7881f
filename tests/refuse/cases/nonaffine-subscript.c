/* expect: nonaffine-subscript 7:11 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t[100];
        t[i * i] = 0.0;
        A[i] = t[i];
    }
#pragma endscop
}
