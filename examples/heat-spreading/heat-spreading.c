/* A plate with one hot edge, compared with the plain loops bit for bit.
 *     heat-spreading [cells [steps]]
 */
#include "../app.h"
#include "heat.h"

static double run(spread *f, int steps, int n, double A[n][n], double B[n][n])
{
    memset(A, 0, sizeof(double[n][n]));
    memset(B, 0, sizeof(double[n][n]));
    for (int j = 0; j < n; j++)
        A[0][j] = 100 + uniform();
    double start = now();
    f(steps, n, A, B);
    return now() - start;
}

int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 1000), steps = size_arg(argc, argv, 2, 100);
    double (*A)[n] = make_array((size_t)n * n, sizeof(double)), (*B)[n] = make_array((size_t)n * n, sizeof(double));
    double (*C)[n] = make_array((size_t)n * n, sizeof(double));
    run(heat, 1, n, A, B); /* the threads start */
    double fast = run(heat, steps, n, A, B);
    memcpy(C[0], A[0], (size_t)n * sizeof(double)); /* the same edge for the plain loops */
    memset(B, 0, sizeof(double[n][n]));
    double start = now(), error = 0;
    heat_plain(steps, n, C, B);
    double plain = now() - start;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            error = worse(fabs(A[i][j] - C[i][j]), error);
    int wrong = report("heat", fast, plain, error, 0);
    free(A);
    free(B);
    free(C);
    return wrong;
}
