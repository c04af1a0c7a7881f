/* Two contractions of rank-4 tensors as coupled-cluster programs spend their time on them.
 *     coupled-cluster [occupied [virtual]]
 */
#include <float.h>

#include "../app.h"
#include "contractions.h"

static double *random_tensor(size_t count)
{
    double *t = make_array(count, sizeof(double));
    for (size_t i = 0; i < count; i++)
        t[i] = 2 * uniform() - 1;
    return t;
}

static double difference(size_t count, const double *r, const double *expected)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = worse(most, fabs(r[i] - expected[i]));
    return most;
}

int main(int argc, char **argv)
{
    int o = size_arg(argc, argv, 1, 10), v = size_arg(argc, argv, 2, 28), wrong = 0;
    size_t n_t = (size_t)v * v * o * o;
    double *t = random_tensor(n_t), *w_ladder = random_tensor((size_t)v * v * v * v), *w_ring = random_tensor(n_t);
    double *r = make_array(n_t, sizeof(double)), *expected = make_array(n_t, sizeof(double));
    double start, plain, allowed = 8 * DBL_EPSILON * v * (v + o); /* sums of that many numbers less than 1 */

    start = now();
    ladder_plain(o, v, (void *)expected, (void *)w_ladder, (void *)t);
    plain = now() - start;
    start = now();
    ladder(o, v, (void *)r, (void *)w_ladder, (void *)t);
    wrong |= report("ladder", now() - start, plain, difference(n_t, r, expected), allowed);

    start = now();
    ring_plain(o, v, (void *)expected, (void *)w_ring, (void *)t);
    plain = now() - start;
    start = now();
    ring(o, v, (void *)r, (void *)w_ring, (void *)t);
    wrong |= report("ring", now() - start, plain, difference(n_t, r, expected), allowed);

    free(t);
    free(w_ladder);
    free(w_ring);
    free(r);
    free(expected);
    return wrong;
}
