/* Turn a picture by a quarter, compared with the plain loops.
 *     plan-by-hand [height [width]]
 */
#include "../app.h"
#include "turn.h"

int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 2000), m = size_arg(argc, argv, 2, 1500);
    float (*in)[m] = make_array((size_t)n * m, sizeof(float)), *w = make_array((size_t)m, sizeof(float));
    float (*out)[n] = make_array((size_t)n * m, sizeof(float)), (*expected)[n] = make_array((size_t)n * m, sizeof(float));
    for (int j = 0; j < m; j++)
        w[j] = (float)uniform();
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            in[i][j] = (float)uniform();
    turn(n, m, in, out, w); /* the threads start, pages are touched */
    turn_plain(n, m, in, expected, w);
    double start = now();
    turn(n, m, in, out, w);
    double fast = now() - start;
    start = now();
    turn_plain(n, m, in, expected, w);
    double plain = now() - start, error = 0;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++)
            error = worse(fabs((double)out[j][i] - (double)expected[j][i]), error);
    int wrong = report("quarter turn", fast, plain, error, 0);
    free(in);
    free(out);
    free(expected);
    free(w);
    return wrong;
}
