/* expect: foreign-pragma 6:9 */
void f(int n, double A[n], double *s)
{
#pragma scop
    for (int i = 0; i < n; i++) {
#pragma omp parallel
        *s += A[i];
    }
#pragma endscop
}
