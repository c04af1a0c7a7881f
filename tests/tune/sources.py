"""Small files to tune."""

AXPY = """\
void axpy(int n, double a, double x[n], double y[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
#pragma endscop
}
"""

ADD = """\
void add(int n, int m, double A[n][m], double B[m][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            A[i][j] = A[i][j] + 2.0 * B[j][i];
#pragma endscop
}
"""

PRODUCT = """\
void product(int n, float C[n][n], float A[n][n], float B[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
"""

HEAT = """\
void heat(int steps, int n, double A[n], double B[n])
{
#pragma scop
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            B[i] = 0.3 * (A[i - 1] + A[i] + A[i + 1]);
        for (int i = 1; i < n - 1; i++)
            A[i] = 0.3 * (B[i - 1] + B[i] + B[i + 1]);
    }
#pragma endscop
}
"""

GLOBAL = """\
static double table[40][50];
double total;
void gather(void)
{
#pragma scop
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 50; j++)
            table[i][j] = 2.0 * table[i][j] + 1.0;
#pragma endscop
}
"""
