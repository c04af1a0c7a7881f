/* A dense symmetric positive definite system, solved by conjugate gradients.
 *     conjugate-gradient [unknowns]
 */
#include "../app.h"
#include "cg.h"

#define SMALL 1e-10

/* Covariances of points on a line, the weaker the farther they are apart: dense, with a condition number of 81. */
static void covariances(int n, double a[n][n])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = pow(0.8, abs(i - j));
}

/* |b - A x| / |b| */
static double residual(int n, double a[n][n], const double b[n], const double x[n])
{
    double left = 0, all = 0;
    for (int i = 0; i < n; i++) {
        double r = b[i];
        for (int j = 0; j < n; j++)
            r -= a[i][j] * x[j];
        left += r * r;
        all += b[i] * b[i];
    }
    return sqrt(left / all);
}

int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 1000);
    double (*a)[n] = make_array((size_t)n * n, sizeof(double));
    double (*work)[n] = make_array((size_t)n * 3, sizeof(double));
    double *b = make_array((size_t)n, sizeof(double)), *x = make_array((size_t)n, sizeof(double));

    covariances(n, a);
    for (int i = 0; i < n; i++)
        b[i] = 2 * uniform() - 1;

    double start = now();
    cg_plain(n, a, b, x, work, SMALL, 10 * n);
    double plain = now() - start;

    memset(x, 0, (size_t)n * sizeof(double));
    start = now();
    int steps = cg(n, a, b, x, work, SMALL, 10 * n);
    double seconds = now() - start;
    char what[40];
    snprintf(what, sizeof what, "CG, %d steps", steps);
    int wrong = report(what, seconds, plain, residual(n, a, b, x), 10 * SMALL);

    free(a);
    free(work);
    free(b);
    free(x);
    return wrong;
}
