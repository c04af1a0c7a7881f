/* Masks: what is set, what is around it, how far it is to what is not. */
#include <stdlib.h>

#include "photo.h"

void morph_threshold(const plane *in, unsigned char *mask, float least)
{
    int i, n = in->w * in->h;

    for (i = 0; i < n; i++)
        mask[i] = in->a[i] >= least;
}

/* Set where the pixel and its four neighbours are; outside nothing is. */
void morph_erode(int w, int h, const unsigned char *in, unsigned char *out)
{
    int x, y;

    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            int all = in[y * w + x];
            all &= x > 0 ? in[y * w + x - 1] : 0;
            all &= x < w - 1 ? in[y * w + x + 1] : 0;
            all &= y > 0 ? in[(y - 1) * w + x] : 0;
            all &= y < h - 1 ? in[(y + 1) * w + x] : 0;
            out[y * w + x] = (unsigned char)all;
        }
}

void morph_dilate(int w, int h, const unsigned char *in, unsigned char *out)
{
    int x, y;

    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            int any = in[y * w + x];
            if (x > 0)
                any |= in[y * w + x - 1];
            if (x < w - 1)
                any |= in[y * w + x + 1];
            if (y > 0)
                any |= in[(y - 1) * w + x];
            if (y < h - 1)
                any |= in[(y + 1) * w + x];
            out[y * w + x] = (unsigned char)any;
        }
}

/* City blocks to the next pixel that is not set: down and to the right, then back. */
void morph_distance(int w, int h, const unsigned char *mask, float *d)
{
    int x, y;

    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            float best = mask[y * w + x] ? 1e6f : 0;
            if (y > 0 && d[(y - 1) * w + x] + 1 < best)
                best = d[(y - 1) * w + x] + 1;
            if (x > 0 && d[y * w + x - 1] + 1 < best)
                best = d[y * w + x - 1] + 1;
            d[y * w + x] = best;
        }
    for (y = h - 1; y >= 0; y--)
        for (x = w - 1; x >= 0; x--) {
            float best = d[y * w + x];
            if (y < h - 1 && d[(y + 1) * w + x] + 1 < best)
                best = d[(y + 1) * w + x] + 1;
            if (x < w - 1 && d[y * w + x + 1] + 1 < best)
                best = d[y * w + x + 1] + 1;
            d[y * w + x] = best;
        }
}

/* Numbers the parts that hang together, by filling one after the other. */
int morph_label(int w, int h, const unsigned char *mask, int *label)
{
    int *stack = malloc(sizeof(int) * (size_t)w * (size_t)h), top, count = 0, i, k;
    static const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};

    if (!stack)
        return -1;
    for (i = 0; i < w * h; i++)
        label[i] = 0;
    for (i = 0; i < w * h; i++) {
        if (!mask[i] || label[i])
            continue;
        label[i] = ++count;
        top = 0;
        stack[top++] = i;
        while (top > 0) {
            int at = stack[--top], x = at % w, y = at / w;
            for (k = 0; k < 4; k++) {
                int nx = x + dx[k], ny = y + dy[k];
                if (nx < 0 || ny < 0 || nx >= w || ny >= h)
                    continue;
                if (mask[ny * w + nx] && !label[ny * w + nx]) {
                    label[ny * w + nx] = count;
                    stack[top++] = ny * w + nx;
                }
            }
        }
    }
    free(stack);
    return count;
}
