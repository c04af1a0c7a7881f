/* Adam with weight decay. */
#include <math.h>

#include "net.h"

double gradient_norm(const float *grads, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)grads[i] * grads[i];
    return sqrt(sum);
}

void gradient_clip(float *grads, size_t n, double norm, double most)
{
    float factor;

    if (norm <= most)
        return;
    factor = (float)(most / norm);
    for (size_t i = 0; i < n; i++)
        grads[i] *= factor;
}

void adamw(float *params, const float *grads, float *m, float *v, long n, float rate, float beta1, float beta2,
           float eps, float decay, int step)
{
    float c1 = 1.0f - powf(beta1, (float)step), c2 = 1.0f - powf(beta2, (float)step);

    for (long i = 0; i < n; i++) {
        float param = params[i], grad = grads[i];
        float m1 = beta1 * m[i] + (1.0f - beta1) * grad;
        float v1 = beta2 * v[i] + (1.0f - beta2) * grad * grad;
        m[i] = m1;
        v[i] = v1;
        params[i] -= rate * (m1 / c1 / (sqrtf(v1 / c2) + eps) + decay * param);
    }
}

/* Up in the first tenth, then down along a cosine. */
float rate_at(float rate, int step, int steps)
{
    int warm = steps / 10 + 1;

    if (step < warm)
        return rate * (float)step / (float)warm;
    return rate * (0.1f + 0.45f * (1.0f + cosf(3.1415927f * (float)(step - warm) / (float)(steps - warm + 1))));
}
