#include "audio.h"

#define LIMIT(s) ((s) > 1.0f ? 1.0f : ((s) < -1.0f ? -1.0f : (s)))

/* x has taps - 1 samples of the block before in front of its n. */
void fir_block(const sample_t *x, sample_t *y, int n, const float *h, int taps)
{
    int i, k;
#pragma scop
    for (i = 0; i < n; i++) {
        const sample_t *p = x + i + taps - 1;
        float acc = 0.0f;
        for (k = 0; k < taps; k++)
            acc += h[k] * *(p - k);
        y[i] = acc;
    }
#pragma endscop
}

/* The same block through several filters of second order. */
void biquad_bank(biquad *q, int filters, const sample_t *x, sample_t *y, int n)
{
    int f, i;
#pragma scop
    for (f = 0; f < filters; f++) {
        for (i = 0; i < n; i++) {
            float in = x[i];
            float out = q[f].b0 * in + q[f].z1;
            q[f].z1 = q[f].b1 * in - q[f].a1 * out + q[f].z2;
            q[f].z2 = q[f].b2 * in - q[f].a2 * out;
            y[f * n + i] = out;
        }
    }
#pragma endscop
}

/* Overlapping frames of a signal, each faded in and out. */
void window_frames(const sample_t *x, sample_t *frames, int count, int size, int hop, const float *window)
{
#pragma scop
    for (int f = 0; f < count; f++) {
        const sample_t *in = x + f * hop;
        sample_t *out = frames + f * size;
        for (int i = 0; i < size; i++)
            out[i] = in[i] * window[i];
    }
#pragma endscop
}

/* The way back: frames are added where they came from. */
void overlap_add(const sample_t *frames, sample_t *y, int count, int size, int hop)
{
    int f, i;
#pragma scop
    for (i = 0; i < (count - 1) * hop + size; i++)
        y[i] = 0;
    for (f = 0; f < count; f++)
        for (i = 0; i < size; i++)
            y[f * hop + i] += frames[f * size + i];
#pragma endscop
}

/* Low-pass, then every factor-th sample. */
void decimate(const sample_t *x, sample_t *y, int n, int factor, const float *h, int taps)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        float acc = 0.0f;
        for (int k = 0; k < taps; k++)
            acc += h[k] * x[i * factor + k];
        y[i] = acc;
    }
#pragma endscop
}

/* 16-bit samples, left and right in turn. */
void split_stereo(const short *pcm, sample_t *left, sample_t *right, int frames)
{
    int n;
#pragma scop
    const short *s = pcm;
    sample_t *l = left, *r = right;
    n = 0;
    while (n < frames) {
        *l++ = *s++ / 32768.0f;
        *r++ = *s++ / 32768.0f;
        n++;
    }
#pragma endscop
}

/* Tracks that are not muted, with a gain each, limited. */
void mix_down(sample_t **tracks, const float *gain, const int *muted, int n_tracks, sample_t *out, int n)
{
    int i, t;
#pragma scop
    for (i = 0; i < n; i++)
        out[i] = 0.0f;
    for (t = 0; t < n_tracks; t++) {
        if (muted[t])
            continue;
        const sample_t *in = tracks[t];
        for (i = 0; i < n; i++)
            out[i] += gain[t] * in[i];
    }
    for (i = 0; i < n; i++)
        out[i] = LIMIT(out[i]);
#pragma endscop
}

void autocorrelate(const sample_t *x, int n, int lags, double *r)
{
    int lag;
#pragma scop
    for (lag = lags; --lag >= 0;) {
        double d = 0;
        for (int i = lag; i < n; i++)
            d += (double)x[i] * x[i - lag];
        r[lag] = d;
    }
#pragma endscop
}
