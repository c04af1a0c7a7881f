"""Small regions of the kinds that most files have: a product, a matrix-vector product, steps of a stencil. What is
asked for while they are generated is what nearly every run asks for."""

_PRODUCT = """
void product(int m, int n, int l, double a, double A[m][l], double B[l][n], double C[m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] *= a;
            for (int k = 0; k < l; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
"""
_ROWS = """
void rows(int m, int n, double *x, double *y, double *z, double *A)
{
#pragma scop
    for (int i = 0; i < m; i++) {
        y[i] = 0.0;
        for (int j = 0; j < n; j++)
            y[i] += A[i * n + j] * x[j];
    }
    for (int j = 0; j < n; j++)
        z[j] = y[0] > 0.0 ? 2.0 * z[j] : z[j];
#pragma endscop
}
"""
_STEPS = """
void steps(int t, int n, double A[n][n], double B[n][n])
{
#pragma scop
    for (int k = 0; k < t; k++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                B[i][j] = 0.25 * (A[i - 1][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                A[i][j] = B[i][j];
    }
#pragma endscop
}
"""
SAMPLES = (_PRODUCT, _ROWS, _STEPS)
