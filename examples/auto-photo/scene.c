/* A scene to take pictures of: sky, hills, a sun, a house, leaves. */
#include <math.h>

#include "photo.h"

static unsigned next_random(unsigned *state)
{
    unsigned x = *state;

    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

static float uniform(unsigned *state)
{
    return (float)(next_random(state) >> 8) / 16777216.0f;
}

static void set(photo *p, int x, int y, float r, float g, float b)
{
    if (x < 0 || y < 0 || x >= p->w || y >= p->h)
        return;
    p->r[y * p->w + x] = r;
    p->g[y * p->w + x] = g;
    p->b[y * p->w + x] = b;
}

static void paint_sky(photo *p)
{
    int x, y;

    for (y = 0; y < p->h; y++)
        for (x = 0; x < p->w; x++) {
            float down = (float)y / (float)p->h, side = (float)x / (float)p->w;
            p->r[y * p->w + x] = 0.35f + 0.45f * down;
            p->g[y * p->w + x] = 0.50f + 0.30f * down + 0.05f * side;
            p->b[y * p->w + x] = 0.85f - 0.25f * down;
        }
}

static void paint_hills(photo *p, unsigned seed)
{
    float shift = (float)(seed % 100) / 16.0f;
    int x, y;

    for (x = 0; x < p->w; x++) {
        float at = 6.0f * (float)x / (float)p->w + shift;
        float height = (0.62f + 0.08f * sinf(at) + 0.04f * sinf(2.7f * at)) * (float)p->h;
        for (y = (int)height; y < p->h; y++) {
            float depth = ((float)y - height) / (float)p->h;
            set(p, x, y, 0.22f + 0.3f * depth, 0.42f - 0.2f * depth, 0.18f + 0.1f * depth);
        }
    }
}

static void paint_disc(photo *p, float cx, float cy, float radius, float r, float g, float b)
{
    int x, y;

    for (y = (int)(cy - radius); y <= (int)(cy + radius); y++)
        for (x = (int)(cx - radius); x <= (int)(cx + radius); x++) {
            float dx = (float)x - cx, dy = (float)y - cy;
            if (dx * dx + dy * dy <= radius * radius)
                set(p, x, y, r, g, b);
        }
}

static void paint_box(photo *p, int x0, int y0, int x1, int y1, float r, float g, float b)
{
    int x, y;

    for (y = y0; y < y1; y++)
        for (x = x0; x < x1; x++)
            set(p, x, y, r, g, b);
}

static void paint_house(photo *p)
{
    int w = p->w, h = p->h, k, x0 = w * 55 / 100, y0 = h * 58 / 100, size = w / 7;

    paint_box(p, x0, y0, x0 + size, y0 + size * 3 / 4, 0.75f, 0.68f, 0.55f);
    for (k = 0; k < size / 2; k++)
        paint_box(p, x0 + k, y0 - k - 1, x0 + size - k, y0 - k, 0.55f, 0.18f, 0.12f);
    for (k = 0; k < 3; k++)
        paint_box(p, x0 + size / 12 + k * size / 3, y0 + size / 6, x0 + size / 4 + k * size / 3, y0 + size / 3, 0.2f,
                  0.25f, 0.35f);
}

void scene_paint(photo *p, unsigned seed)
{
    unsigned state = seed * 2654435761u + 1;
    int k;

    paint_sky(p);
    paint_disc(p, 0.2f * (float)p->w, 0.22f * (float)p->h, 0.06f * (float)p->h, 1.0f, 0.93f, 0.6f);
    paint_hills(p, seed);
    paint_house(p);
    for (k = 0; k < 400; k++) {
        float x = uniform(&state) * (float)p->w, y = (0.72f + 0.28f * uniform(&state)) * (float)p->h;
        float light = 0.3f + 0.4f * uniform(&state);
        paint_disc(p, x, y, 1.0f + 3.0f * uniform(&state), 0.4f * light, light, 0.2f * light);
    }
}

void scene_noise(photo *p, unsigned seed, float strength)
{
    unsigned state = seed * 747796405u + 3;
    int i, n = p->w * p->h;

    for (i = 0; i < n; i++) {
        p->r[i] += strength * (uniform(&state) - 0.5f);
        p->g[i] += strength * (uniform(&state) - 0.5f);
        p->b[i] += strength * (uniform(&state) - 0.5f);
        if (next_random(&state) % 500 == 0)
            p->r[i] = p->g[i] = p->b[i] = uniform(&state) < 0.5f ? 0.0f : 1.0f;
    }
}
