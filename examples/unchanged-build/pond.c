/* A stone falls into a pond; the water's level along its middle after some steps.
 *     pond [cells [steps]]
 */
#include "../app.h"
#include "ripple.h"

int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 1000), steps = size_arg(argc, argv, 2, 100);
    double (*level)[n] = make_array((size_t)n * n, sizeof(double));
    double (*move)[n] = make_array((size_t)n * n, sizeof(double));
    level[n / 2][n / 2] = 1000;
    double start = now();
    ripple(steps, n, level, move);
    double seconds = now() - start;
    for (int j = 0; j < n; j++)
        printf("%d %.6f\n", j, level[n / 2][j]);
    printf("%.3f ms\n", 1e3 * seconds);
    free(level);
    free(move);
    return 0;
}
