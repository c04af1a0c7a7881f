/* expect: parse-error 4:5 */
void f(int n, double A[n])
{
    double __attribute__((vector_size(16))) v = {1.0, 2.0};
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = v[0];
#pragma endscop
}
