/* Rows of a table scaled on 1, 2, 3 and 4 threads: the same bits every time, and those of the plain loops.
 *     thread-owners [rows [columns]]
 */
#ifdef _OPENMP
#include <omp.h>
#endif
#include "../app.h"
#include "normalize.h"

int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 2000), m = size_arg(argc, argv, 2, 1000), wrong = 0;
    double (*A)[m] = make_array((size_t)n * m, sizeof(double)), (*B)[m] = make_array((size_t)n * m, sizeof(double));
    double (*C)[m] = make_array((size_t)n * m, sizeof(double));
    double *lo = make_array((size_t)n, sizeof(double)), *hi = make_array((size_t)n, sizeof(double));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            A[i][j] = uniform() + i + 0.01 * (j == 0); /* no row is flat, unless it has one element */
    memcpy(B, A, sizeof(double[n][m]));
    double start = now();
    normalize_plain(n, m, B, lo, hi);
    double plain = now() - start;
    for (int threads = 1; threads <= 4; threads++) {
#ifdef _OPENMP
        omp_set_num_threads(threads);
#endif
        memcpy(C, A, sizeof(double[n][m]));
        start = now();
        normalize(n, m, C, lo, hi);
        double fast = now() - start;
        int same = memcmp(B, C, sizeof(double[n][m])) == 0;
        char what[32];
        snprintf(what, sizeof what, "%d thread%s", threads, threads > 1 ? "s" : "");
        wrong |= report(what, fast, plain, same ? 0 : 1, 0);
    }
    free(A);
    free(B);
    free(C);
    free(lo);
    free(hi);
    return wrong;
}
