/* expect: array-as-value 6:9 */
void f(int n, double **A, double **B)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        A[i] = B[i];
        B[i][0] = 0.0;
    }
#pragma endscop
}
