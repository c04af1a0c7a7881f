#include "indirect.h"

#include <math.h>

/* A word's vector plus that of its place. */
void embed(float *out, const int *token, const float *words, const float *places, int B, int T, int C)
{
#pragma scop
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            float *o = out + b * T * C + t * C;
            int ix = token[b * T + t];
            const float *w = words + ix * C;
            const float *p = places + t * C;
            for (int i = 0; i < C; i++)
                o[i] = w[i] + p[i];
        }
    }
#pragma endscop
}

/* The same word may come several times: its gradients add up in the order of the text. */
void embed_backward(float *dwords, float *dplaces, const float *dout, const int *token, int B, int T, int C)
{
#pragma scop
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            const float *d = dout + b * T * C + t * C;
            float *w = dwords + token[b * T + t] * C;
            float *p = dplaces + t * C;
            for (int i = 0; i < C; i++) {
                float x = d[i];
                w[i] += x;
                p[i] += x;
            }
        }
    }
#pragma endscop
}

void cross_entropy(float *loss, const float *probs, const int *target, int B, int T, int V)
{
#pragma scop
    for (int b = 0; b < B; b++) {
        for (int t = 0; t < T; t++) {
            const float *p = probs + b * T * V + t * V;
            int ix = target[b * T + t];
            loss[b * T + t] = -logf(p[ix]);
        }
    }
#pragma endscop
}

void cross_entropy_backward(float *dlogits, const float *probs, const int *target, float scale, int N, int V)
{
#pragma scop
    for (int n = 0; n < N; n++) {
        int ix = target[n];
        for (int i = 0; i < V; i++) {
            float hit = i == ix ? 1.0f : 0.0f;
            dlogits[n * V + i] += (probs[n * V + i] - hit) * scale;
        }
    }
#pragma endscop
}

/* Each byte through a table. */
void apply_curve(const unsigned char *src, unsigned char *dst, int w, int h, int stride, const unsigned char *curve)
{
    int x, y;
#pragma scop
    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++)
            dst[y * stride + x] = curve[src[y * stride + x]];
#pragma endscop
}

/* A histogram for each row. */
void row_histograms(const unsigned char *image, int w, int h, int (*count)[16])
{
#pragma scop
    for (int y = 0; y < h; y++) {
        for (int k = 0; k < 16; k++)
            count[y][k] = 0;
        for (int x = 0; x < w; x++)
            count[y][image[y * w + x] >> 4]++;
    }
#pragma endscop
}

/* Compressed rows. */
void sparse_times_vector(const sparse *a, const double *x, double *y)
{
    int i, k;
    double sum;
#pragma scop
    for (i = 0; i < a->rows; i++) {
        sum = 0.0;
        for (k = a->start[i]; k < a->start[i + 1]; k++)
            sum += a->value[k] * x[a->column[k]];
        y[i] = sum;
    }
#pragma endscop
}

void sparse_residual(const sparse *a, const double *restrict x, const double *b, double *restrict r, double *norm)
{
    double total = 0.0;
#pragma scop
    for (int i = 0; i < a->rows; i++) {
        double left = b[i];
        for (int k = a->start[i]; k < a->start[i + 1]; k++) {
            const int j = a->column[k];
            if (j != i)
                left -= a->value[k] * x[j];
            else
                left -= x[i];
        }
        r[i] = left;
    }
    for (int i = 0; i < a->rows; i++)
        total += r[i] * r[i];
#pragma endscop
    *norm = sqrt(total);
}

void gather_rows(const double *from, const int *which, int n, int d, double *to)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < d; j++)
            to[i * d + j] = from[which[i] * d + j];
#pragma endscop
}

/* Where a pixel comes from is given for each; between four of them it is a mean. */
void warp(const float *src, float *dst, int w, int h, const float *map_x, const float *map_y)
{
#pragma scop
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++) {
            float fx = map_x[y * w + x], fy = map_y[y * w + x];
            int ix = (int)floorf(fx), iy = (int)floorf(fy);
            float dx = fx - ix, dy = fy - iy;
            float above = (1 - dx) * src[iy * w + ix] + dx * src[iy * w + ix + 1];
            float below = (1 - dx) * src[(iy + 1) * w + ix] + dx * src[(iy + 1) * w + ix + 1];
            dst[y * w + x] = (1 - dy) * above + dy * below;
        }
    }
#pragma endscop
}
