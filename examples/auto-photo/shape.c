/* Pictures of other sizes and orientations. */
#include <math.h>

#include "photo.h"

void shape_halve(const plane *in, plane *out)
{
    int x, y, w = in->w;

    for (y = 0; y < out->h; y++)
        for (x = 0; x < out->w; x++)
            out->a[y * out->w + x] = 0.25f
                                     * (in->a[2 * y * w + 2 * x] + in->a[2 * y * w + 2 * x + 1]
                                        + in->a[(2 * y + 1) * w + 2 * x] + in->a[(2 * y + 1) * w + 2 * x + 1]);
}

/* Between four pixels. */
static float look(const plane *p, float x, float y)
{
    int x0 = (int)floorf(x), y0 = (int)floorf(y), x1, y1;
    float fx = x - (float)x0, fy = y - (float)y0;

    x0 = x0 < 0 ? 0 : x0 > p->w - 1 ? p->w - 1 : x0;
    y0 = y0 < 0 ? 0 : y0 > p->h - 1 ? p->h - 1 : y0;
    x1 = x0 + 1 < p->w ? x0 + 1 : x0;
    y1 = y0 + 1 < p->h ? y0 + 1 : y0;
    return (1 - fy) * ((1 - fx) * p->a[y0 * p->w + x0] + fx * p->a[y0 * p->w + x1])
           + fy * ((1 - fx) * p->a[y1 * p->w + x0] + fx * p->a[y1 * p->w + x1]);
}

void shape_resize(const plane *in, plane *out)
{
    float sx = (float)in->w / (float)out->w, sy = (float)in->h / (float)out->h;
    int x, y;

    for (y = 0; y < out->h; y++)
        for (x = 0; x < out->w; x++)
            out->a[y * out->w + x] = look(in, ((float)x + 0.5f) * sx - 0.5f, ((float)y + 0.5f) * sy - 0.5f);
}

/* Around the middle; what comes from outside is gray. */
void shape_rotate(const plane *in, plane *out, double angle)
{
    float c = (float)cos(angle), s = (float)sin(angle), mx = 0.5f * (float)in->w, my = 0.5f * (float)in->h;
    int x, y;

    for (y = 0; y < out->h; y++)
        for (x = 0; x < out->w; x++) {
            float dx = (float)x - 0.5f * (float)out->w, dy = (float)y - 0.5f * (float)out->h;
            float fx = c * dx - s * dy + mx, fy = s * dx + c * dy + my;
            if (fx < 0 || fy < 0 || fx > (float)(in->w - 1) || fy > (float)(in->h - 1))
                out->a[y * out->w + x] = 0.5f;
            else
                out->a[y * out->w + x] = look(in, fx, fy);
        }
}

/* A quarter turn. */
void shape_turn(const plane *in, plane *out)
{
    const float *a = in->a;
    float *o = out->a;
    int x, y, w = in->w, h = in->h;

    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++)
            o[x * h + (h - 1 - y)] = a[y * w + x];
}

void shape_mirror(plane *p)
{
    int x, y, w = p->w;

    for (y = 0; y < p->h; y++)
        for (x = 0; x < w / 2; x++) {
            float swap = p->a[y * w + x];
            p->a[y * w + x] = p->a[y * w + w - 1 - x];
            p->a[y * w + w - 1 - x] = swap;
        }
}

void shape_frame(plane *p, int border, float value)
{
    int x, y;

    for (y = 0; y < p->h; y++)
        for (x = 0; x < p->w; x++)
            if (x < border || y < border || x >= p->w - border || y >= p->h - border)
                p->a[y * p->w + x] = value;
}
