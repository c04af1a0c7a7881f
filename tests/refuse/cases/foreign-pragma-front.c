/* expect: foreign-pragma 4:9 */
void f(int n, double A[n])
{
#pragma omp parallel
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = 0;
#pragma endscop
}
