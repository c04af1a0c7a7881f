/* expect: data-dependent-subscript 6:11 */
void f(int n, int k, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        A[k] = 0.0;
        k = k + 2;
    }
#pragma endscop
}
