/* Particles that go with the flow. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

static unsigned long long seed = 20240229;

static double uniform(void)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(seed >> 11) / 9007199254740992.0;
}

int swarm_open(swarm_t *s, int n)
{
    int k;

    s->n = n;
    s->x = calloc((size_t)n + 1, sizeof(double));
    s->y = calloc((size_t)n + 1, sizeof(double));
    s->lost = calloc((size_t)n + 1, 1);
    if (!s->x || !s->y || !s->lost) {
        swarm_close(s);
        return -1;
    }
    for (k = 0; k < n; k++) {
        s->x[k] = 0.1 + 0.8 * uniform();
        s->y[k] = 0.1 + 0.8 * uniform();
    }
    return 0;
}

void swarm_close(swarm_t *s)
{
    free(s->x);
    free(s->y);
    free(s->lost);
    memset(s, 0, sizeof *s);
}

/* Between the four cells around a place. */
static double between(const double *a, int w, double x, double y)
{
    int i = (int)x, j = (int)y;
    double fx = x - i, fy = y - j;

    return (1 - fy) * ((1 - fx) * a[j * w + i] + fx * a[j * w + i + 1])
           + fy * ((1 - fx) * a[(j + 1) * w + i] + fx * a[(j + 1) * w + i + 1]);
}

/* Half a step to see what is there, then a whole one. */
void swarm_move(swarm_t *s, const flow_t *f)
{
    double width = f->nx * f->h, height = f->ny * f->h;
    int k, w = f->nx + 2;

    for (k = 0; k < s->n; k++) {
        double x, y, gx, gy, mx, my;

        if (s->lost[k])
            continue;
        x = s->x[k];
        y = s->y[k];
        gx = x / f->h + 0.5;
        gy = y / f->h + 0.5;
        mx = x + 0.5 * f->dt * between(f->u, w, gx, gy);
        my = y + 0.5 * f->dt * between(f->v, w, gx, gy);
        if (mx < 0 || mx >= width || my < 0 || my >= height) {
            s->lost[k] = 1;
            continue;
        }
        gx = mx / f->h + 0.5;
        gy = my / f->h + 0.5;
        x += f->dt * between(f->u, w, gx, gy);
        y += f->dt * between(f->v, w, gx, gy);
        if (x < 0 || x >= width || y < 0 || y >= height)
            s->lost[k] = 1;
        else {
            s->x[k] = x;
            s->y[k] = y;
        }
    }
}

int swarm_left(const swarm_t *s)
{
    int k, n = 0;

    for (k = 0; k < s->n; k++)
        n += !s->lost[k];
    return n;
}

void swarm_spread(const swarm_t *s, double *mx, double *my, double *deviation)
{
    double sx = 0, sy = 0, d = 0;
    int k, n = swarm_left(s);

    for (k = 0; k < s->n; k++)
        if (!s->lost[k]) {
            sx += s->x[k];
            sy += s->y[k];
        }
    *mx = n ? sx / n : 0;
    *my = n ? sy / n : 0;
    for (k = 0; k < s->n; k++)
        if (!s->lost[k])
            d += (s->x[k] - *mx) * (s->x[k] - *mx) + (s->y[k] - *my) * (s->y[k] - *my);
    *deviation = n ? sqrt(d / n) : 0;
}
