/* expect: array-as-value 6:27 */
void f(int n, double A[n], double B[n][4])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = B[i][0] + (B[i] == A);
#pragma endscop
}
