/* A small transformer that learns to continue a text: all tensors are flat arrays of floats.
 *
 * B sequences of T letters, C channels, NH heads, V letters. Activations of (b, t) are C floats at (b * T + t) * C. */
#ifndef NET_H
#define NET_H

#include <stddef.h>

#define MOST_LAYERS 8

typedef struct {
    int vocab;    /* letters */
    int length;   /* of a sequence */
    int layers, heads, channels;
    int batch;
    int steps, report_every;
    float rate;
    unsigned seed;
    const char *save; /* file for the weights; none if empty */
} options;

typedef struct {
    float *wte, *wpe;                   /* (V, C) letters and (T, C) places */
    float *ln1w, *ln1b;                 /* (L, C) */
    float *qkvw, *qkvb;                 /* (L, 3C, C) and (L, 3C) */
    float *projw, *projb;               /* (L, C, C) and (L, C) */
    float *ln2w, *ln2b;                 /* (L, C) */
    float *fcw, *fcb;                   /* (L, 4C, C) and (L, 4C) */
    float *outw, *outb;                 /* (L, C, 4C) and (L, C) */
    float *lnfw, *lnfb;                 /* (C) */
} weights;

typedef struct {
    float *encoded;                     /* (B, T, C) */
    float *ln1, *ln1_mean, *ln1_rstd;   /* (L, B, T, C) and (L, B, T) */
    float *qkv;                         /* (L, B, T, 3C) */
    float *preatt, *att;                /* (L, B, NH, T, T) */
    float *atty, *attproj;              /* (L, B, T, C) */
    float *residual2;
    float *ln2, *ln2_mean, *ln2_rstd;
    float *fch, *fchg;                  /* (L, B, T, 4C) */
    float *fcproj, *residual3;
    float *lnf, *lnf_mean, *lnf_rstd;   /* (B, T, C) */
    float *logits, *probs;              /* (B, T, V) */
    float *losses;                      /* (B, T) */
} activations;

typedef struct {
    options o;
    weights w, grad;
    activations act, dact;
    float *memory_w, *memory_g, *memory_m, *memory_v; /* weights, gradients, moments of the optimizer */
    float *memory_a, *memory_d;
    size_t n_weights, n_acts;
    int *inputs, *targets;
    float mean_loss;
} net;

typedef struct {
    const char *text;
    int n;
    int code[256];
    char letter[256];
    int letters;
} corpus;

/* rng.c */
void rng_seed(unsigned seed);
unsigned rng_next(void);
float rng_uniform(void);
float rng_normal(void);

/* text.c */
void corpus_open(corpus *c);
void corpus_batch(const corpus *c, int batch, int length, int *inputs, int *targets);

/* layers.c */
void encoder_forward(float *out, const int *inp, const float *wte, const float *wpe, int B, int T, int C);
void encoder_backward(float *dwte, float *dwpe, const float *dout, const int *inp, int B, int T, int C);
void layernorm_forward(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias,
                       int B, int T, int C);
void layernorm_backward(float *dinp, float *dweight, float *dbias, const float *dout, const float *inp,
                        const float *weight, const float *mean, const float *rstd, int B, int T, int C);
void linear_forward(float *out, const float *inp, const float *weight, const float *bias, int N, int C, int OC);
void linear_backward(float *dinp, float *dweight, float *dbias, const float *dout, const float *inp,
                     const float *weight, int N, int C, int OC);
void gelu_forward(float *out, const float *inp, int n);
void gelu_backward(float *dinp, const float *inp, const float *dout, int n);
void residual_forward(float *out, const float *a, const float *b, int n);
void residual_backward(float *da, float *db, const float *dout, int n);

/* attention.c */
void attention_forward(float *out, float *preatt, float *att, const float *inp, int B, int T, int C, int NH);
void attention_backward(float *dinp, float *dpreatt, float *datt, const float *dout, const float *inp,
                        const float *att, int B, int T, int C, int NH);

/* loss.c */
void softmax_forward(float *probs, const float *logits, int N, int V);
void crossentropy_forward(float *losses, const float *probs, const int *targets, int N, int V);
void crossentropy_backward(float *dlogits, const float *dlosses, const float *probs, const int *targets, int N, int V);
double accuracy(const float *probs, const int *targets, int N, int V);

/* optimizer.c */
double gradient_norm(const float *grads, size_t n);
void gradient_clip(float *grads, size_t n, double norm, double most);
void adamw(float *params, const float *grads, float *m, float *v, long n, float rate, float beta1, float beta2,
           float eps, float decay, int step);
float rate_at(float rate, int step, int steps);

/* model.c */
int net_open(net *n, const options *o);
void net_close(net *n);
void net_forward(net *n, int learn);
void net_backward(net *n);
void net_zero(net *n);
void net_update(net *n, int step);
void net_continue(net *n, const corpus *c, const char *start, int letters, char *out);

/* report.c */
void report_weights(const net *n);
void report_layer(const char *name, const float *a, int n);
void report_attention(const net *n);
int save_weights(const net *n, const char *name);

/* study.c */
void study_letters(const net *n, const corpus *c);
void study_mistakes(const net *n, const corpus *c);
double study_perplexity(net *n, const corpus *c);

#endif
