/* Memory of pictures. */
#include <stdlib.h>
#include <string.h>

#include "photo.h"

int photo_open(photo *p, int w, int h)
{
    size_t n = (size_t)w * (size_t)h;

    p->w = w;
    p->h = h;
    p->r = calloc(n, sizeof(float));
    p->g = calloc(n, sizeof(float));
    p->b = calloc(n, sizeof(float));
    if (!p->r || !p->g || !p->b) {
        photo_close(p);
        return -1;
    }
    return 0;
}

void photo_close(photo *p)
{
    free(p->r);
    free(p->g);
    free(p->b);
    memset(p, 0, sizeof *p);
}

int plane_open(plane *p, int w, int h)
{
    p->w = w;
    p->h = h;
    p->a = calloc((size_t)w * (size_t)h, sizeof(float));
    return p->a ? 0 : -1;
}

void plane_close(plane *p)
{
    free(p->a);
    memset(p, 0, sizeof *p);
}

void plane_copy(const plane *from, plane *to)
{
    int i, n = from->w * from->h;

    for (i = 0; i < n; i++)
        to->a[i] = from->a[i];
}

static float *channel_of(const photo *p, int channel)
{
    return channel == 0 ? p->r : channel == 1 ? p->g : p->b;
}

void plane_of(const photo *p, int channel, plane *out)
{
    memcpy(out->a, channel_of(p, channel), (size_t)p->w * (size_t)p->h * sizeof(float));
}

void plane_into(const plane *in, photo *p, int channel)
{
    memcpy(channel_of(p, channel), in->a, (size_t)p->w * (size_t)p->h * sizeof(float));
}
