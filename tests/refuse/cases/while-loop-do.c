/* expect: while-loop 6:9 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        do
            A[i] = A[i] * 0.5;
        while (A[i] > 1.0);
    }
#pragma endscop
}
