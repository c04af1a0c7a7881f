/* Brightness: how it is spread, and how it should be. */
#include <math.h>
#include <string.h>

#include "photo.h"

static int bin_of(float v)
{
    int b = (int)(v * (float)BINS);

    return b < 0 ? 0 : b >= BINS ? BINS - 1 : b;
}

void tone_histogram(const plane *p, long counts[BINS])
{
    int i, n = p->w * p->h;

    memset(counts, 0, BINS * sizeof counts[0]);
    for (i = 0; i < n; i++)
        counts[bin_of(p->a[i])]++;
}

/* The value below which a part of all pixels lies. */
float tone_quantile(const long counts[BINS], double part)
{
    long total = 0, sum = 0;
    int k;

    for (k = 0; k < BINS; k++)
        total += counts[k];
    for (k = 0; k < BINS; k++) {
        sum += counts[k];
        if ((double)sum >= part * (double)total)
            return ((float)k + 0.5f) / (float)BINS;
    }
    return 1.0f;
}

void tone_stretch(plane *p, float low, float high)
{
    float scale = high > low ? 1.0f / (high - low) : 1.0f;
    int i, n = p->w * p->h;

    for (i = 0; i < n; i++) {
        float v = (p->a[i] - low) * scale;
        p->a[i] = v < 0 ? 0 : v > 1 ? 1 : v;
    }
}

void tone_equalize(plane *p)
{
    long counts[BINS], sum = 0;
    float table[BINS];
    int i, n = p->w * p->h;

    tone_histogram(p, counts);
    for (i = 0; i < BINS; i++) {
        sum += counts[i];
        table[i] = (float)((double)sum / n);
    }
    for (i = 0; i < n; i++)
        p->a[i] = table[bin_of(p->a[i])];
}

/* Contrast against what is around. */
void tone_local(const plane *in, const plane *mean, plane *out, float strength)
{
    int x, y, w = in->w;

    for (y = 0; y < in->h; y++)
        for (x = 0; x < w; x++) {
            float m = mean->a[y * w + x], d = in->a[y * w + x] - m;
            out->a[y * w + x] = m + d * (1.0f + strength / (1.0f + 8.0f * fabsf(d)));
        }
}

static void measure_one(const float *a, int n, double *mean, double *deviation, float *least, float *most)
{
    double sum = 0, square = 0;
    float lo = a[0], hi = a[0];
    int i;

    for (i = 0; i < n; i++) {
        sum += a[i];
        square += (double)a[i] * a[i];
        lo = a[i] < lo ? a[i] : lo;
        hi = a[i] > hi ? a[i] : hi;
    }
    *mean = sum / n;
    *deviation = sqrt(square / n - *mean * *mean);
    *least = lo;
    *most = hi;
}

tones tone_measure(const photo *p)
{
    tones t;
    int n = p->w * p->h;

    measure_one(p->r, n, &t.mean[0], &t.deviation[0], &t.least[0], &t.most[0]);
    measure_one(p->g, n, &t.mean[1], &t.deviation[1], &t.least[1], &t.most[1]);
    measure_one(p->b, n, &t.mean[2], &t.deviation[2], &t.least[2], &t.most[2]);
    return t;
}
