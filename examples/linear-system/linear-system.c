/* Solve A x = b for a random symmetric positive definite matrix; the residual tells whether it is right.
 *     linear-system [unknowns]
 */
#include "../app.h"
#include "cholesky.h"

static void fill(int n, double A[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            A[i][j] = A[j][i] = i == j ? n + uniform() : uniform() - 0.5;
}

/* x = A^-1 b with the factor L in the lower triangle. */
static void solve(int n, double L[n][n], const double b[n], double x[n])
{
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int k = 0; k < i; k++)
            x[i] -= L[i][k] * x[k];
        x[i] /= L[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= L[k][i] * x[k];
        x[i] /= L[i][i];
    }
}

int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 800);
    double (*A)[n] = make_array((size_t)n * n, sizeof(double)), (*L)[n] = make_array((size_t)n * n, sizeof(double));
    double *b = make_array((size_t)n, sizeof(double)), *x = make_array((size_t)n, sizeof(double));
    fill(n, A);
    for (int i = 0; i < n; i++)
        b[i] = uniform();

    memcpy(L, A, sizeof(double[n][n]));
    double start = now();
    cholesky_plain(n, L);
    double plain = now() - start;
    memcpy(L, A, sizeof(double[n][n]));
    start = now();
    cholesky(n, L);
    double fast = now() - start, error = 0;

    solve(n, L, b, x);
    for (int i = 0; i < n; i++) {
        double r = b[i];
        for (int j = 0; j < n; j++)
            r -= A[i][j] * x[j];
        error = worse(fabs(r), error);
    }
    int wrong = report("factorization", fast, plain, error, 1e-11);
    free(A);
    free(L);
    free(b);
    free(x);
    return wrong;
}
