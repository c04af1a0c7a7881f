/* expect: data-dependent-condition 6:13 */
void f(int n, double A[n], double B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        if (A[i] > 0.0)
            for (int j = 0; j < n; j++)
                B[i][j] = 0.0;
#pragma endscop
}
