/* The layers as one model: memory, forward, backward, update, and text that it makes up. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "net.h"

/* Cuts the memory of all weights into tensors; how many floats it takes. */
static size_t cut_weights(weights *w, float *memory, const options *o)
{
    size_t C = (size_t)o->channels, L = (size_t)o->layers, V = (size_t)o->vocab, T = (size_t)o->length, at = 0, k;
    struct {
        float **to;
        size_t n;
    } parts[] = {
        {&w->wte, V * C}, {&w->wpe, T * C}, {&w->ln1w, L * C}, {&w->ln1b, L * C}, {&w->qkvw, L * 3 * C * C},
        {&w->qkvb, L * 3 * C}, {&w->projw, L * C * C}, {&w->projb, L * C}, {&w->ln2w, L * C}, {&w->ln2b, L * C},
        {&w->fcw, L * 4 * C * C}, {&w->fcb, L * 4 * C}, {&w->outw, L * 4 * C * C}, {&w->outb, L * C},
        {&w->lnfw, C}, {&w->lnfb, C},
    };

    for (k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        *parts[k].to = memory ? memory + at : NULL;
        at += parts[k].n;
    }
    return at;
}

static size_t cut_activations(activations *a, float *memory, const options *o)
{
    size_t C = (size_t)o->channels, L = (size_t)o->layers, V = (size_t)o->vocab, NH = (size_t)o->heads, at = 0, k;
    size_t T = (size_t)o->length, N = (size_t)o->batch * T, A = (size_t)o->batch * NH * T * T;
    struct {
        float **to;
        size_t n;
    } parts[] = {
        {&a->encoded, N * C}, {&a->ln1, L * N * C}, {&a->ln1_mean, L * N}, {&a->ln1_rstd, L * N},
        {&a->qkv, L * N * 3 * C}, {&a->preatt, L * A}, {&a->att, L * A}, {&a->atty, L * N * C},
        {&a->attproj, L * N * C}, {&a->residual2, L * N * C}, {&a->ln2, L * N * C}, {&a->ln2_mean, L * N},
        {&a->ln2_rstd, L * N}, {&a->fch, L * N * 4 * C}, {&a->fchg, L * N * 4 * C}, {&a->fcproj, L * N * C},
        {&a->residual3, L * N * C}, {&a->lnf, N * C}, {&a->lnf_mean, N}, {&a->lnf_rstd, N}, {&a->logits, N * V},
        {&a->probs, N * V}, {&a->losses, N},
    };

    for (k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        *parts[k].to = memory ? memory + at : NULL;
        at += parts[k].n;
    }
    return at;
}

static void first_weights(net *n)
{
    int C = n->o.channels, L = n->o.layers;
    float small = 0.08f;
    size_t i;

    for (i = 0; i < n->n_weights; i++)
        n->memory_w[i] = small * rng_normal();
    for (int k = 0; k < L * C; k++) {
        n->w.ln1w[k] = n->w.ln2w[k] = 1.0f;
        n->w.ln1b[k] = n->w.ln2b[k] = n->w.projb[k] = n->w.outb[k] = 0.0f;
    }
    for (int k = 0; k < L * 3 * C; k++)
        n->w.qkvb[k] = 0.0f;
    for (int k = 0; k < L * 4 * C; k++)
        n->w.fcb[k] = 0.0f;
    for (int k = 0; k < C; k++) {
        n->w.lnfw[k] = 1.0f;
        n->w.lnfb[k] = 0.0f;
    }
}

int net_open(net *n, const options *o)
{
    size_t letters = (size_t)o->batch * (size_t)o->length;

    memset(n, 0, sizeof *n);
    n->o = *o;
    n->n_weights = cut_weights(&n->w, NULL, o);
    n->n_acts = cut_activations(&n->act, NULL, o);
    n->memory_w = calloc(n->n_weights, sizeof(float));
    n->memory_g = calloc(n->n_weights, sizeof(float));
    n->memory_m = calloc(n->n_weights, sizeof(float));
    n->memory_v = calloc(n->n_weights, sizeof(float));
    n->memory_a = calloc(n->n_acts, sizeof(float));
    n->memory_d = calloc(n->n_acts, sizeof(float));
    n->inputs = calloc(letters, sizeof(int));
    n->targets = calloc(letters, sizeof(int));
    if (!n->memory_w || !n->memory_g || !n->memory_m || !n->memory_v || !n->memory_a || !n->memory_d || !n->inputs
        || !n->targets) {
        net_close(n);
        return -1;
    }
    cut_weights(&n->w, n->memory_w, o);
    cut_weights(&n->grad, n->memory_g, o);
    cut_activations(&n->act, n->memory_a, o);
    cut_activations(&n->dact, n->memory_d, o);
    first_weights(n);
    return 0;
}

void net_close(net *n)
{
    free(n->memory_w);
    free(n->memory_g);
    free(n->memory_m);
    free(n->memory_v);
    free(n->memory_a);
    free(n->memory_d);
    free(n->inputs);
    free(n->targets);
    memset(n, 0, sizeof *n);
}

void net_forward(net *n, int learn)
{
    int B = n->o.batch, T = n->o.length, C = n->o.channels, NH = n->o.heads, V = n->o.vocab, N = B * T, l;
    activations *a = &n->act;
    const weights *w = &n->w;

    encoder_forward(a->encoded, n->inputs, w->wte, w->wpe, B, T, C);
    for (l = 0; l < n->o.layers; l++) {
        size_t c = (size_t)l * (size_t)N * (size_t)C, lc = (size_t)l * (size_t)C, lcc = lc * (size_t)C;
        size_t row = (size_t)l * (size_t)N, heads = (size_t)l * (size_t)B * (size_t)NH * (size_t)T * (size_t)T;
        const float *before = l ? a->residual3 + c - (size_t)N * (size_t)C : a->encoded;

        layernorm_forward(a->ln1 + c, a->ln1_mean + row, a->ln1_rstd + row, before, w->ln1w + lc, w->ln1b + lc, B, T, C);
        linear_forward(a->qkv + 3 * c, a->ln1 + c, w->qkvw + 3 * lcc, w->qkvb + 3 * lc, N, C, 3 * C);
        attention_forward(a->atty + c, a->preatt + heads, a->att + heads, a->qkv + 3 * c, B, T, C, NH);
        linear_forward(a->attproj + c, a->atty + c, w->projw + lcc, w->projb + lc, N, C, C);
        residual_forward(a->residual2 + c, before, a->attproj + c, N * C);
        layernorm_forward(a->ln2 + c, a->ln2_mean + row, a->ln2_rstd + row, a->residual2 + c, w->ln2w + lc,
                          w->ln2b + lc, B, T, C);
        linear_forward(a->fch + 4 * c, a->ln2 + c, w->fcw + 4 * lcc, w->fcb + 4 * lc, N, C, 4 * C);
        gelu_forward(a->fchg + 4 * c, a->fch + 4 * c, N * 4 * C);
        linear_forward(a->fcproj + c, a->fchg + 4 * c, w->outw + 4 * lcc, w->outb + lc, N, 4 * C, C);
        residual_forward(a->residual3 + c, a->residual2 + c, a->fcproj + c, N * C);
    }
    layernorm_forward(a->lnf, a->lnf_mean, a->lnf_rstd,
                      a->residual3 + (size_t)(n->o.layers - 1) * (size_t)N * (size_t)C, w->lnfw, w->lnfb, B, T, C);
    linear_forward(a->logits, a->lnf, w->wte, NULL, N, C, V);
    softmax_forward(a->probs, a->logits, N, V);
    if (learn) {
        double sum = 0;

        crossentropy_forward(a->losses, a->probs, n->targets, N, V);
        for (int k = 0; k < N; k++)
            sum += a->losses[k];
        n->mean_loss = (float)(sum / N);
    }
}

void net_zero(net *n)
{
    memset(n->memory_g, 0, n->n_weights * sizeof(float));
    memset(n->memory_d, 0, n->n_acts * sizeof(float));
}

void net_backward(net *n)
{
    int B = n->o.batch, T = n->o.length, C = n->o.channels, NH = n->o.heads, V = n->o.vocab, N = B * T, l;
    activations *a = &n->act, *d = &n->dact;
    const weights *w = &n->w;
    weights *g = &n->grad;
    size_t last = (size_t)(n->o.layers - 1) * (size_t)N * (size_t)C;

    for (int k = 0; k < N; k++)
        d->losses[k] = 1.0f / (float)N;
    crossentropy_backward(d->logits, d->losses, a->probs, n->targets, N, V);
    linear_backward(d->lnf, g->wte, NULL, d->logits, a->lnf, w->wte, N, C, V);
    layernorm_backward(d->residual3 + last, g->lnfw, g->lnfb, d->lnf, a->residual3 + last, w->lnfw, a->lnf_mean,
                       a->lnf_rstd, B, T, C);
    for (l = n->o.layers - 1; l >= 0; l--) {
        size_t c = (size_t)l * (size_t)N * (size_t)C, lc = (size_t)l * (size_t)C, lcc = lc * (size_t)C;
        size_t row = (size_t)l * (size_t)N, heads = (size_t)l * (size_t)B * (size_t)NH * (size_t)T * (size_t)T;
        const float *before = l ? a->residual3 + c - (size_t)N * (size_t)C : a->encoded;
        float *dbefore = l ? d->residual3 + c - (size_t)N * (size_t)C : d->encoded;

        residual_backward(d->residual2 + c, d->fcproj + c, d->residual3 + c, N * C);
        linear_backward(d->fchg + 4 * c, g->outw + 4 * lcc, g->outb + lc, d->fcproj + c, a->fchg + 4 * c,
                        w->outw + 4 * lcc, N, 4 * C, C);
        gelu_backward(d->fch + 4 * c, a->fch + 4 * c, d->fchg + 4 * c, N * 4 * C);
        linear_backward(d->ln2 + c, g->fcw + 4 * lcc, g->fcb + 4 * lc, d->fch + 4 * c, a->ln2 + c, w->fcw + 4 * lcc, N,
                        C, 4 * C);
        layernorm_backward(d->residual2 + c, g->ln2w + lc, g->ln2b + lc, d->ln2 + c, a->residual2 + c, w->ln2w + lc,
                           a->ln2_mean + row, a->ln2_rstd + row, B, T, C);
        residual_backward(dbefore, d->attproj + c, d->residual2 + c, N * C);
        linear_backward(d->atty + c, g->projw + lcc, g->projb + lc, d->attproj + c, a->atty + c, w->projw + lcc, N, C,
                        C);
        attention_backward(d->qkv + 3 * c, d->preatt + heads, d->att + heads, d->atty + c, a->qkv + 3 * c,
                           a->att + heads, B, T, C, NH);
        linear_backward(d->ln1 + c, g->qkvw + 3 * lcc, g->qkvb + 3 * lc, d->qkv + 3 * c, a->ln1 + c,
                        w->qkvw + 3 * lcc, N, C, 3 * C);
        layernorm_backward(dbefore, g->ln1w + lc, g->ln1b + lc, d->ln1 + c, before, w->ln1w + lc, a->ln1_mean + row,
                           a->ln1_rstd + row, B, T, C);
    }
    encoder_backward(g->wte, g->wpe, d->encoded, n->inputs, B, T, C);
}

void net_update(net *n, int step)
{
    double norm = gradient_norm(n->memory_g, n->n_weights);

    gradient_clip(n->memory_g, n->n_weights, norm, 1.0);
    adamw(n->memory_w, n->memory_g, n->memory_m, n->memory_v, (long)n->n_weights,
          rate_at(n->o.rate, step, n->o.steps), 0.9f, 0.95f, 1e-8f, 0.01f, step);
}

/* The most probable letters, one after the other, in the first sequence of the batch. */
void net_continue(net *n, const corpus *c, const char *start, int letters, char *out)
{
    int T = n->o.length, V = n->o.vocab, used = 0, k;

    for (k = 0; start[k] && used < letters; k++)
        out[used++] = start[k];
    while (used < letters) {
        int first = used > T ? used - T : 0, n_in = used - first, best = 0;
        const float *p;

        memset(n->inputs, 0, (size_t)n->o.batch * (size_t)T * sizeof(int));
        for (k = 0; k < n_in; k++)
            n->inputs[k] = c->code[(unsigned char)out[first + k]];
        net_forward(n, 0);
        p = n->act.probs + (size_t)(n_in - 1) * (size_t)V;
        for (k = 1; k < V; k++)
            if (p[k] > p[best])
                best = k;
        out[used++] = c->letter[best];
    }
    out[used] = 0;
}
