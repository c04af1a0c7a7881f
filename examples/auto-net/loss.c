/* How probable the right letter was. */
#include <math.h>

#include "net.h"

void softmax_forward(float *probs, const float *logits, int N, int V)
{
    for (int n = 0; n < N; n++) {
        const float *in = logits + n * V;
        float *p = probs + n * V;
        float maxval = -10000.0f, sum = 0.0f;

        for (int i = 0; i < V; i++)
            if (in[i] > maxval)
                maxval = in[i];
        for (int i = 0; i < V; i++) {
            p[i] = expf(in[i] - maxval);
            sum += p[i];
        }
        for (int i = 0; i < V; i++)
            p[i] /= sum;
    }
}

void crossentropy_forward(float *losses, const float *probs, const int *targets, int N, int V)
{
    for (int n = 0; n < N; n++)
        losses[n] = -logf(probs[n * V + targets[n]] + 1e-20f);
}

/* Through the softmax as well. */
void crossentropy_backward(float *dlogits, const float *dlosses, const float *probs, const int *targets, int N, int V)
{
    for (int n = 0; n < N; n++) {
        float d = dlosses[n];
        int right = targets[n];

        for (int i = 0; i < V; i++) {
            float indicator = i == right ? 1.0f : 0.0f;
            dlogits[n * V + i] += (probs[n * V + i] - indicator) * d;
        }
    }
}

/* The part of all places at which the right letter is the most probable one. */
double accuracy(const float *probs, const int *targets, int N, int V)
{
    int hits = 0;

    for (int n = 0; n < N; n++) {
        int best = 0;

        for (int i = 1; i < V; i++)
            if (probs[n * V + i] > probs[n * V + best])
                best = i;
        hits += best == targets[n];
    }
    return (double)hits / N;
}
