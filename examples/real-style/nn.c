#include "nn.h"

#include <math.h>

/* Each of the B*T rows gets mean 0 and deviation 1, then a weight and a bias per column. */
void layernorm_rows(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias, int B,
                    int T, int C)
{
    float eps = 1e-5f;
#pragma scop
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            const float *x = inp + b * T * C + t * C;
            float m = 0.0f;
            for (int i = 0; i < C; i++) {
                m += x[i];
            }
            m = m / C;
            float v = 0.0f;
            for (int i = 0; i < C; i++) {
                float xshift = x[i] - m;
                v += xshift * xshift;
            }
            v = v / C;
            float s = 1.0f / sqrtf(v + eps);
            float *out_bt = out + b * T * C + t * C;
            for (int i = 0; i < C; i++) {
                float n = s * (x[i] - m);
                out_bt[i] = n * weight[i] + bias[i];
            }
            mean[b * T + t] = m;
            rstd[b * T + t] = s;
        }
    }
#pragma endscop
}

/* out = inp weight' + bias; there may be no bias. */
void linear_forward(float *out, const float *inp, const float *weight, const float *bias, int B, int T, int C, int OC)
{
#pragma scop
    for (int bt = 0; bt < B * T; bt++) {
        const float *x = inp + bt * C;
        float *y = out + bt * OC;
        for (int o = 0; o < OC; o++) {
            const float *w = weight + o * C;
            float val = (bias != 0) ? bias[o] : 0.0f;
            for (int i = 0; i < C; i++)
                val += x[i] * w[i];
            y[o] = val;
        }
    }
#pragma endscop
}

/* Scores of earlier positions: queries and keys lie beside each other in rows of 3*C. */
void attention_scores(float *att, const float *qkv, int B, int T, int C, int NH)
{
    int C3 = C * 3;
    int hs = C / NH;
    float scale = 1.0f / sqrtf((float)hs);
#pragma scop
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++)
            for (int h = 0; h < NH; h++) {
                const float *query = qkv + b * T * C3 + t * C3 + h * hs;
                float *row = att + b * NH * T * T + h * T * T + t * T;
                for (int t2 = 0; t2 <= t; t2++) {
                    const float *key = qkv + b * T * C3 + t2 * C3 + h * hs + C;
                    float val = 0.0f;
                    for (int i = 0; i < hs; i++)
                        val += query[i] * key[i];
                    row[t2] = val * scale;
                }
            }
#pragma endscop
}

void softmax_rows(float *probs, const float *logits, int B, int T, int V)
{
    int r, i;
#pragma scop
    for (r = 0; r < B * T; r++) {
        const float *in = logits + r * V;
        float *p = probs + r * V;
        float maxval = -10000.0f;
        for (i = 0; i < V; i++)
            if (in[i] > maxval)
                maxval = in[i];
        float sum = 0.0f;
        for (i = 0; i < V; i++) {
            p[i] = expf(in[i] - maxval);
            sum += p[i];
        }
        for (i = 0; i < V; i++)
            p[i] /= sum;
    }
#pragma endscop
}

/* The greatest of each window of two by two and which of the four it was, for the way back. */
void maxpool_forward(const layer l, const float *input)
{
    int b, i, j;
    int h = l.out_h, w = l.out_w;
#pragma scop
    for (b = 0; b < l.batch * l.c; ++b) {
        for (i = 0; i < h; ++i) {
            for (j = 0; j < w; ++j) {
                const float *in = input + (b * 2 * h + 2 * i) * 2 * w + 2 * j;
                float max = in[0];
                int max_i = 0;
                max_i = (in[1] > max) ? 1 : max_i;
                max = (in[1] > max) ? in[1] : max;
                max_i = (in[2 * w] > max) ? 2 : max_i;
                max = (in[2 * w] > max) ? in[2 * w] : max;
                max_i = (in[2 * w + 1] > max) ? 3 : max_i;
                max = (in[2 * w + 1] > max) ? in[2 * w + 1] : max;
                l.output[(b * h + i) * w + j] = max;
                l.indexes[(b * h + i) * w + j] = max_i;
            }
        }
    }
#pragma endscop
}

/* Windows of an image as columns of a matrix, zero outside of it. */
void im2col(const float *im, int channels, int height, int width, int ksize, int pad, float *col)
{
    int c, kh, kw, h, w;
    int height_col = height + 2 * pad - ksize + 1;
    int width_col = width + 2 * pad - ksize + 1;
#pragma scop
    for (c = 0; c < channels; ++c)
        for (kh = 0; kh < ksize; ++kh)
            for (kw = 0; kw < ksize; ++kw)
                for (h = 0; h < height_col; ++h)
                    for (w = 0; w < width_col; ++w) {
                        int y = h + kh - pad, x = w + kw - pad;
                        int row = (c * ksize + kh) * ksize + kw;
                        if (y < 0 || x < 0 || y >= height || x >= width)
                            col[(row * height_col + h) * width_col + w] = 0;
                        else
                            col[(row * height_col + h) * width_col + w] = im[(c * height + y) * width + x];
                    }
#pragma endscop
}

/* Mean, variance and the normalized output of each channel. */
void batchnorm_forward(layer l, const float *x)
{
    int b, f, i;
    int spatial = l.out_h * l.out_w;
    float scale = 1.f / (l.batch * spatial);
#pragma scop
    for (f = 0; f < l.c; ++f) {
        l.mean[f] = 0;
        for (b = 0; b < l.batch; ++b)
            for (i = 0; i < spatial; ++i)
                l.mean[f] += x[b * l.c * spatial + f * spatial + i];
        l.mean[f] *= scale;
        l.variance[f] = 0;
        for (b = 0; b < l.batch; ++b)
            for (i = 0; i < spatial; ++i) {
                float d = x[b * l.c * spatial + f * spatial + i] - l.mean[f];
                l.variance[f] += d * d;
            }
        l.variance[f] *= scale;
    }
    for (b = 0; b < l.batch; ++b)
        for (f = 0; f < l.c; ++f)
            for (i = 0; i < spatial; ++i) {
                int index = b * l.c * spatial + f * spatial + i;
                l.output[index] = (x[index] - l.mean[f]) / (sqrtf(l.variance[f]) + .000001f);
            }
#pragma endscop
}

/* Deltas of everything that a bias was added to, through a leaky activation. */
void bias_backward(layer l)
{
    int i, b, j;
#pragma scop
    for (b = 0; b < l.batch; ++b) {
        for (i = 0; i < l.outputs; ++i) {
            for (j = 0; j < l.out_h * l.out_w; ++j) {
                int k = j + l.out_h * l.out_w * (i + b * l.outputs);
                if (l.output[k] < 0)
                    l.delta[k] *= .1f;
                l.bias_updates[i] += l.delta[k];
            }
        }
    }
#pragma endscop
}

void adamw_update(float *params, const float *grads, float *m, float *v, long n, float lr, float beta1, float beta2,
                  float eps, float decay)
{
#pragma scop
    for (long i = 0; i < n; i++) {
        float param = params[i];
        float grad = grads[i];
        float m1 = beta1 * m[i] + (1.0f - beta1) * grad;
        float v1 = beta2 * v[i] + (1.0f - beta2) * grad * grad;
        m[i] = m1;
        v[i] = v1;
        params[i] -= lr * (m1 / (sqrtf(v1) + eps) + decay * param);
    }
#pragma endscop
}
