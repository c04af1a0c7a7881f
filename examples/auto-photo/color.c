/* Colors, pixel by pixel. */
#include <math.h>

#include "photo.h"

#define CLIP(v) ((v) < 0.0f ? 0.0f : (v) > 1.0f ? 1.0f : (v))

void color_luma(const photo *p, plane *y)
{
    int i, n = p->w * p->h;

    for (i = 0; i < n; i++)
        y->a[i] = 0.299f * p->r[i] + 0.587f * p->g[i] + 0.114f * p->b[i];
}

void color_to_ycc(photo *p)
{
    int i, n = p->w * p->h;

    for (i = 0; i < n; i++) {
        float r = p->r[i], g = p->g[i], b = p->b[i];
        float y = 0.299f * r + 0.587f * g + 0.114f * b;
        p->r[i] = y;
        p->g[i] = 0.564f * (b - y) + 0.5f;
        p->b[i] = 0.713f * (r - y) + 0.5f;
    }
}

void color_to_rgb(photo *p)
{
    int i, n = p->w * p->h;

    for (i = 0; i < n; i++) {
        float y = p->r[i], cb = p->g[i] - 0.5f, cr = p->b[i] - 0.5f;
        p->r[i] = y + 1.403f * cr;
        p->g[i] = y - 0.344f * cb - 0.714f * cr;
        p->b[i] = y + 1.773f * cb;
    }
}

/* All colors have the mean of the green one. */
void color_balance(photo *p)
{
    int i, n = p->w * p->h;
    double r = 0, g = 0, b = 0;
    float fr, fb;

    for (i = 0; i < n; i++) {
        r += p->r[i];
        g += p->g[i];
        b += p->b[i];
    }
    fr = r > 0 ? (float)(g / r) : 1.0f;
    fb = b > 0 ? (float)(g / b) : 1.0f;
    for (i = 0; i < n; i++) {
        p->r[i] *= fr;
        p->b[i] *= fb;
    }
}

void color_saturate(photo *p, float factor)
{
    int i, n = p->w * p->h;

    for (i = 0; i < n; i++) {
        float y = 0.299f * p->r[i] + 0.587f * p->g[i] + 0.114f * p->b[i];
        p->r[i] = y + factor * (p->r[i] - y);
        p->g[i] = y + factor * (p->g[i] - y);
        p->b[i] = y + factor * (p->b[i] - y);
    }
}

/* By a table, as cameras do it. */
void color_gamma(photo *p, float exponent)
{
    float table[1025];
    int i, n = p->w * p->h;

    for (i = 0; i <= 1024; i++)
        table[i] = powf((float)i / 1024.0f, exponent);
    for (i = 0; i < n; i++) {
        p->r[i] = table[(int)(1024.0f * CLIP(p->r[i]))];
        p->g[i] = table[(int)(1024.0f * CLIP(p->g[i]))];
        p->b[i] = table[(int)(1024.0f * CLIP(p->b[i]))];
    }
}

void color_clip(photo *p)
{
    int i, n = p->w * p->h;

    for (i = 0; i < n; i++) {
        p->r[i] = CLIP(p->r[i]);
        p->g[i] = CLIP(p->g[i]);
        p->b[i] = CLIP(p->b[i]);
    }
}
