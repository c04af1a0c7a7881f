/* A picture of the water: light from the slope, a blur, edges, bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "wave.h"

#define AT(p, w, x, y) ((p)[(y) * (w) + (x)])
#define RADIUS 2

static const float kernel[2 * RADIUS + 1] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

static float *plane(int width, int height)
{
    float *p = calloc((size_t)width * (size_t)height, sizeof *p);
    if (!p) {
        fprintf(stderr, "out of memory: %d x %d pixels\n", width, height);
        exit(1);
    }
    return p;
}

void picture_open(struct picture *p, int width, int height)
{
    p->width = width;
    p->height = height;
    p->light = plane(width, height);
    p->blurred = plane(width, height);
    p->edges = plane(width, height);
    p->pixels = malloc((size_t)width * (size_t)height);
    if (!p->pixels) {
        fprintf(stderr, "out of memory: %d x %d pixels\n", width, height);
        exit(1);
    }
}

void picture_close(struct picture *p)
{
    free(p->light);
    free(p->blurred);
    free(p->edges);
    free(p->pixels);
}

/* The sun stands in the upper left: slopes towards it are bright. */
static void shade(int w, int h, const double *water, float *light)
{
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            double across = AT(water, w, x + 1, y) - AT(water, w, x - 1, y);
            double down = AT(water, w, x, y + 1) - AT(water, w, x, y - 1);
            AT(light, w, x, y) = (float)(0.5 + 2.0 * across + 2.0 * down);
        }
}

/* Rows, then columns; `room` holds what is between. */
static void blur(int w, int h, const float *in, float *room, float *out)
{
    int x, y, k;

    for (y = 0; y < h; y++)
        for (x = RADIUS; x < w - RADIUS; x++) {
            float sum = 0.0f;
            for (k = -RADIUS; k <= RADIUS; k++)
                sum += kernel[k + RADIUS] * AT(in, w, x + k, y);
            AT(room, w, x, y) = sum;
        }
    for (y = RADIUS; y < h - RADIUS; y++)
        for (x = 0; x < w; x++) {
            float sum = 0.0f;
            for (k = -RADIUS; k <= RADIUS; k++)
                sum += kernel[k + RADIUS] * AT(room, w, x, y + k);
            AT(out, w, x, y) = sum;
        }
}

/* Sobel's operator, without the root. */
static void find_edges(int w, int h, const float *in, float *out)
{
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            float gx = AT(in, w, x + 1, y - 1) + 2.0f * AT(in, w, x + 1, y) + AT(in, w, x + 1, y + 1)
                       - AT(in, w, x - 1, y - 1) - 2.0f * AT(in, w, x - 1, y) - AT(in, w, x - 1, y + 1);
            float gy = AT(in, w, x - 1, y + 1) + 2.0f * AT(in, w, x, y + 1) + AT(in, w, x + 1, y + 1)
                       - AT(in, w, x - 1, y - 1) - 2.0f * AT(in, w, x, y - 1) - AT(in, w, x + 1, y - 1);
            AT(out, w, x, y) = gx * gx + gy * gy;
        }
}

void picture_take(struct picture *p, const struct basin *b)
{
    const int w = p->width, h = p->height;

    shade(w, h, b->now, p->light);
    blur(w, h, p->light, p->edges, p->blurred);
    find_edges(w, h, p->blurred, p->edges);
    for (int i = 0; i < w * h; i++) {
        float value = 200.0f * p->blurred[i] + 400.0f * p->edges[i];
        p->pixels[i] = (unsigned char)(value < 0.0f ? 0.0f : value > 255.0f ? 255.0f : value);
    }
}

/* Which of the counts grows is known only when the byte is: the tool leaves such a loop alone. */
void picture_histogram(const struct picture *p, long counts[16])
{
    for (int k = 0; k < 16; k++)
        counts[k] = 0;
    for (int i = 0; i < p->width * p->height; i++)
        counts[p->pixels[i] / 16]++;
}
