/* Forward pass of a network of two dense layers.
 *     dense-layer [batch [inputs [hidden [outputs]]]]
 */
#include <float.h>

#include "../app.h"
#include "layer.h"

/* Random numbers as large as keeps what goes through a layer of n inputs from growing or fading. */
static float *weights(size_t count, int n)
{
    float *w = make_array(count, sizeof(float));
    double scale = sqrt(6.0 / n);
    for (size_t i = 0; i < count; i++)
        w[i] = (float)(scale * (2 * uniform() - 1));
    return w;
}

static double difference(size_t count, const float *y, const float *expected)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = worse(most, fabs((double)y[i] - (double)expected[i]));
    return most;
}

int main(int argc, char **argv)
{
    int batch = size_arg(argc, argv, 1, 128), inputs = size_arg(argc, argv, 2, 784);
    int hidden = size_arg(argc, argv, 3, 300), outputs = size_arg(argc, argv, 4, 100);
    size_t n_x = (size_t)batch * inputs, n_h = (size_t)batch * hidden, n_y = (size_t)batch * outputs;
    float *x = weights(n_x, 6), *h = make_array(n_h, sizeof(float));
    float *w1 = weights((size_t)inputs * hidden, inputs), *b1 = weights((size_t)hidden, inputs);
    float *w2 = weights((size_t)hidden * outputs, hidden), *b2 = weights((size_t)outputs, hidden);
    float *y = make_array(n_y, sizeof(float)), *expected = make_array(n_y, sizeof(float));

    /* Numbers of about 1; the rounding errors of that many steps may differ. */
    double allowed = 8 * FLT_EPSILON * sqrt(inputs + hidden);
    double start = now();
    layer_plain(batch, inputs, hidden, (void *)x, (void *)w1, b1, (void *)h);
    layer_plain(batch, hidden, outputs, (void *)h, (void *)w2, b2, (void *)expected);
    double plain = now() - start;

    start = now();
    layer(batch, inputs, hidden, (void *)x, (void *)w1, b1, (void *)h);
    layer(batch, hidden, outputs, (void *)h, (void *)w2, b2, (void *)y);
    int wrong = report("two dense layers", now() - start, plain, difference(n_y, y, expected), allowed);

    free(x);
    free(h);
    free(w1);
    free(b1);
    free(w2);
    free(b2);
    free(y);
    free(expected);
    return wrong;
}
