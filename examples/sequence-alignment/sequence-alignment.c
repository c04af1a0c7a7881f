/* The distance of two random sequences of letters, compared with the plain loops.
 *     sequence-alignment [letters of one [letters of the other]]
 */
#include "../app.h"
#include "align.h"

int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 4000), m = size_arg(argc, argv, 2, 4500);
    char *x = make_array((size_t)n, 1), *y = make_array((size_t)m, 1);
    size_t cells = (size_t)(n + 1) * (size_t)(m + 1);
    int (*D)[m + 1] = make_array(cells, sizeof(int)), (*expected)[m + 1] = make_array(cells, sizeof(int));
    for (int i = 0; i < n; i++)
        x[i] = "ACGT"[(int)(4 * uniform())];
    for (int j = 0; j < m; j++)
        y[j] = "ACGT"[(int)(4 * uniform())];
    align(n, m, x, y, D); /* the threads start, pages are touched */
    align_plain(n, m, x, y, expected);
    double start = now();
    int least = align(n, m, x, y, D);
    double fast = now() - start;
    start = now();
    int plain_least = align_plain(n, m, x, y, expected);
    double plain = now() - start, error = worse(fabs((double)least - (double)plain_least), 0);
    error = worse(memcmp(D, expected, cells * sizeof(int)) != 0, error);
    int wrong = report("alignment", fast, plain, error, 0);
    free(x);
    free(y);
    free(D);
    free(expected);
    return wrong;
}
