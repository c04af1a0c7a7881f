/* What it has learned: letters that are alike, letters that are mistaken for each other. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

/* Cosines of all pairs of letters. */
static void cosines(const float *wte, int V, int C, float *like)
{
    for (int a = 0; a < V; a++)
        for (int b = 0; b < V; b++) {
            float dot = 0.0f;
            for (int i = 0; i < C; i++)
                dot += wte[a * C + i] * wte[b * C + i];
            like[a * V + b] = dot;
        }
    for (int a = 0; a < V; a++)
        for (int b = 0; b < V; b++)
            if (a != b)
                like[a * V + b] /= sqrtf(like[a * V + a] * like[b * V + b]) + 1e-12f;
    for (int a = 0; a < V; a++)
        like[a * V + a] = 1.0f;
}

void study_letters(const net *n, const corpus *c)
{
    int V = n->o.vocab, C = n->o.channels, shown = 0;
    float *like = calloc((size_t)V * (size_t)V, sizeof(float));

    if (!like)
        return;
    cosines(n->w.wte, V, C, like);
    printf("  alike:");
    for (int a = 0; a < V && shown < 8; a++) {
        int best = a == 0 ? 1 : 0;

        for (int b = 0; b < V; b++)
            if (b != a && like[a * V + b] > like[a * V + best])
                best = b;
        printf(" %c%c %.3f", c->letter[a] == ' ' ? '_' : c->letter[a], c->letter[best] == ' ' ? '_' : c->letter[best],
               like[a * V + best]);
        shown++;
    }
    printf("\n");
    free(like);
}

/* Counts of (right letter, most probable letter) in the last batch. */
void study_mistakes(const net *n, const corpus *c)
{
    int V = n->o.vocab, N = n->o.batch * n->o.length, worst = 0;
    int *counts = calloc((size_t)V * (size_t)V, sizeof(int));

    if (!counts)
        return;
    for (int k = 0; k < N; k++) {
        const float *p = n->act.probs + (size_t)k * (size_t)V;
        int best = 0;

        for (int i = 1; i < V; i++)
            if (p[i] > p[best])
                best = i;
        counts[n->targets[k] * V + best]++;
    }
    for (int k = 0; k < V; k++)
        counts[k * V + k] = 0;
    for (int k = 0; k < V * V; k++)
        if (counts[k] > counts[worst])
            worst = k;
    printf("  most often `%c' is taken for `%c': %d times of %d\n", c->letter[worst / V], c->letter[worst % V],
           counts[worst], N);
    free(counts);
}

/* How surprised it is by the whole text, piece by piece. */
double study_perplexity(net *n, const corpus *c)
{
    int B = n->o.batch, T = n->o.length, pieces = (c->n - 1) / (B * T), k, b, t;
    double sum = 0;

    for (k = 0; k < pieces; k++) {
        for (b = 0; b < B; b++)
            for (t = 0; t < T; t++) {
                int at = (k * B + b) * T + t;
                n->inputs[b * T + t] = c->code[(unsigned char)c->text[at]];
                n->targets[b * T + t] = c->code[(unsigned char)c->text[at + 1]];
            }
        net_forward(n, 1);
        sum += n->mean_loss;
    }
    return pieces ? exp(sum / pieces) : 0;
}
