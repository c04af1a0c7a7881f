/* Filters that look at neighbours. Pixels outside are those at the edge, if nothing else is said. */
#include <math.h>

#include "photo.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define SORT(a, b)                \
    do {                          \
        float lo_ = MIN(a, b);    \
        float hi_ = MAX(a, b);    \
        a = lo_;                  \
        b = hi_;                  \
    } while (0)

enum { MOST_TAPS = 65 };

static int clamp_index(int i, int n)
{
    if (i < 0)
        return 0;
    if (i >= n)
        return n - 1;
    return i;
}

/* Two passes with a bell curve. */
void filter_gauss(const plane *in, plane *tmp, plane *out, float sigma)
{
    float taps[MOST_TAPS], sum = 0;
    int w = in->w, h = in->h, radius = (int)(2.5f * sigma + 0.5f), x, y, k;

    if (radius > MOST_TAPS / 2)
        radius = MOST_TAPS / 2;
    for (k = -radius; k <= radius; k++) {
        taps[k + radius] = expf(-0.5f * (float)(k * k) / (sigma * sigma));
        sum += taps[k + radius];
    }
    for (k = 0; k <= 2 * radius; k++)
        taps[k] /= sum;
    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            float s = 0;
            for (k = -radius; k <= radius; k++)
                s += taps[k + radius] * in->a[y * w + clamp_index(x + k, w)];
            tmp->a[y * w + x] = s;
        }
    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            float s = 0;
            for (k = -radius; k <= radius; k++)
                s += taps[k + radius] * tmp->a[clamp_index(y + k, h) * w + x];
            out->a[y * w + x] = s;
        }
}

/* 1 4 6 4 1, both ways; two pixels at the edges are copied. */
void filter_binomial(const plane *in, plane *tmp, plane *out)
{
    const float *a = in->a;
    float *t = tmp->a, *o = out->a;
    int w = in->w, h = in->h, x, y;

    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            if (x < 2 || x >= w - 2)
                t[y * w + x] = a[y * w + x];
            else
                t[y * w + x] = 0.0625f * (a[y * w + x - 2] + a[y * w + x + 2])
                               + 0.25f * (a[y * w + x - 1] + a[y * w + x + 1]) + 0.375f * a[y * w + x];
        }
    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            if (y < 2 || y >= h - 2)
                o[y * w + x] = t[y * w + x];
            else
                o[y * w + x] = 0.0625f * (t[(y - 2) * w + x] + t[(y + 2) * w + x])
                               + 0.25f * (t[(y - 1) * w + x] + t[(y + 1) * w + x]) + 0.375f * t[y * w + x];
        }
}

/* Means over squares, from sums of all that is above and to the left. */
void filter_box(const plane *in, plane *out, int radius, double *sums)
{
    int w = in->w, h = in->h, sw = w + 1, x, y;

    for (x = 0; x <= w; x++)
        sums[x] = 0;
    for (y = 0; y < h; y++) {
        double row = 0;
        sums[(y + 1) * sw] = 0;
        for (x = 0; x < w; x++) {
            row += in->a[y * w + x];
            sums[(y + 1) * sw + x + 1] = sums[y * sw + x + 1] + row;
        }
    }
    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            int x0 = x - radius < 0 ? 0 : x - radius, x1 = x + radius + 1 > w ? w : x + radius + 1;
            int y0 = y - radius < 0 ? 0 : y - radius, y1 = y + radius + 1 > h ? h : y + radius + 1;
            double s = sums[y1 * sw + x1] - sums[y0 * sw + x1] - sums[y1 * sw + x0] + sums[y0 * sw + x0];
            out->a[y * w + x] = (float)(s / ((x1 - x0) * (y1 - y0)));
        }
}

/* The middle one of nine. */
void filter_median(const plane *in, plane *out)
{
    const float *a = in->a;
    float *o = out->a;
    int w = in->w, h = in->h, x, y;

    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            if (x == 0 || y == 0 || x == w - 1 || y == h - 1)
                o[y * w + x] = a[y * w + x];
            else {
                float p0 = a[(y - 1) * w + x - 1], p1 = a[(y - 1) * w + x], p2 = a[(y - 1) * w + x + 1];
                float p3 = a[y * w + x - 1], p4 = a[y * w + x], p5 = a[y * w + x + 1];
                float p6 = a[(y + 1) * w + x - 1], p7 = a[(y + 1) * w + x], p8 = a[(y + 1) * w + x + 1];
                SORT(p1, p2);
                SORT(p4, p5);
                SORT(p7, p8);
                SORT(p0, p1);
                SORT(p3, p4);
                SORT(p6, p7);
                SORT(p1, p2);
                SORT(p4, p5);
                SORT(p7, p8);
                p3 = MAX(p0, p3);
                p5 = MIN(p5, p8);
                SORT(p4, p7);
                p6 = MAX(p3, p6);
                p4 = MAX(p1, p4);
                p2 = MIN(p2, p5);
                p4 = MIN(p4, p7);
                SORT(p4, p2);
                p4 = MAX(p6, p4);
                o[y * w + x] = MIN(p4, p2);
            }
        }
}

void filter_sobel(const plane *in, plane *dx, plane *dy, plane *size)
{
    const float *a = in->a;
    int w = in->w, h = in->h, x, y;

    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            float gx = 0, gy = 0;
            if (x > 0 && x < w - 1 && y > 0 && y < h - 1) {
                gx = a[(y - 1) * w + x + 1] + 2 * a[y * w + x + 1] + a[(y + 1) * w + x + 1] - a[(y - 1) * w + x - 1]
                     - 2 * a[y * w + x - 1] - a[(y + 1) * w + x - 1];
                gy = a[(y + 1) * w + x - 1] + 2 * a[(y + 1) * w + x] + a[(y + 1) * w + x + 1]
                     - a[(y - 1) * w + x - 1] - 2 * a[(y - 1) * w + x] - a[(y - 1) * w + x + 1];
            }
            dx->a[y * w + x] = gx;
            dy->a[y * w + x] = gy;
            size->a[y * w + x] = sqrtf(gx * gx + gy * gy);
        }
}

void filter_unsharp(const plane *in, const plane *soft, plane *out, float amount)
{
    int i, n = in->w * in->h;

    for (i = 0; i < n; i++) {
        float d = in->a[i] - soft->a[i];
        if (d < 0.004f && d > -0.004f)
            d = 0;
        out->a[i] = in->a[i] + amount * d;
    }
}

/* Means of neighbours that look alike. */
void filter_bilateral(const plane *in, plane *out, int radius, float space, float range)
{
    int w = in->w, h = in->h, x, y, dx, dy;

    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            float here = in->a[y * w + x], sum = 0, total = 0;
            for (dy = -radius; dy <= radius; dy++)
                for (dx = -radius; dx <= radius; dx++) {
                    float d, weight;
                    if (x + dx < 0 || x + dx >= w || y + dy < 0 || y + dy >= h)
                        continue;
                    d = in->a[(y + dy) * w + x + dx] - here;
                    weight = 1.0f / (1.0f + space * (float)(dx * dx + dy * dy) + range * d * d);
                    sum += weight * in->a[(y + dy) * w + x + dx];
                    total += weight;
                }
            out->a[y * w + x] = sum / total;
        }
}

/* Any kernel of three by three; what is outside counts as 0. */
void filter_kernel3(const plane *in, plane *out, const float k[3][3])
{
    int w = in->w, h = in->h, x, y, i, j;

    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            float s = 0;
            for (j = -1; j <= 1; j++)
                for (i = -1; i <= 1; i++)
                    if (x + i >= 0 && x + i < w && y + j >= 0 && y + j < h)
                        s += k[j + 1][i + 1] * in->a[(y + j) * w + x + i];
            out->a[y * w + x] = s;
        }
}
