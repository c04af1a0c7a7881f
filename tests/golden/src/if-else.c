/* Affine conditions become bounds. */
void border(int n, int m, double A[n][m])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            if (i == 0 || i == n - 1)
                A[i][j] = 1.0;
            else if (j > i)
                A[i][j] = 2.0;
            else
                A[i][j] = i + j;
        }
#pragma endscop
}
