/* Memory, first values, obstacles. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

size_t flow_cells(const flow_t *f)
{
    return (size_t)(f->nx + 2) * (size_t)(f->ny + 2);
}

static double *field(size_t n)
{
    return calloc(n, sizeof(double));
}

/* A warm blob, and a little whirl that breaks the symmetry. */
static void first_values(flow_t *f)
{
    int i, j, w = f->nx + 2;

    for (j = 0; j < f->ny + 2; j++)
        for (i = 0; i < f->nx + 2; i++) {
            double x = (i - 0.5) / f->nx, y = (j - 0.5) / f->ny;
            double r = (x - 0.35) * (x - 0.35) + (y - 0.3) * (y - 0.3);
            f->t[j * w + i] = exp(-40.0 * r) - 0.2 * x;
            f->u[j * w + i] = 0.01 * sin(6.283185307179586 * y) * cos(3.141592653589793 * x);
            f->v[j * w + i] = -0.01 * sin(6.283185307179586 * x) * cos(3.141592653589793 * y);
            f->p[j * w + i] = 0;
        }
}

int flow_open(flow_t *f, const config_t *c)
{
    size_t n;

    memset(f, 0, sizeof *f);
    f->nx = c->nx;
    f->ny = c->ny;
    f->h = 1.0 / c->ny;
    n = flow_cells(f);
    f->u = field(n);
    f->v = field(n);
    f->p = field(n);
    f->t = field(n);
    f->us = field(n);
    f->vs = field(n);
    f->ts = field(n);
    f->rhs = field(n);
    f->work = field(n);
    f->u_mean = field(n);
    f->v_mean = field(n);
    f->solid = calloc(n, 1);
    if (!f->u || !f->v || !f->p || !f->t || !f->us || !f->vs || !f->ts || !f->rhs || !f->work || !f->u_mean
        || !f->v_mean || !f->solid) {
        flow_close(f);
        return -1;
    }
    first_values(f);
    return 0;
}

void flow_close(flow_t *f)
{
    free(f->u);
    free(f->v);
    free(f->p);
    free(f->t);
    free(f->us);
    free(f->vs);
    free(f->ts);
    free(f->rhs);
    free(f->work);
    free(f->u_mean);
    free(f->v_mean);
    free(f->solid);
    memset(f, 0, sizeof *f);
}

static void put_disc(flow_t *f, double cx, double cy, double radius)
{
    int i, j, w = f->nx + 2;

    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++) {
            double dx = (i - 0.5) * f->h - cx, dy = (j - 0.5) * f->h - cy;
            if (dx * dx + dy * dy < radius * radius)
                f->solid[j * w + i] = 1;
        }
}

static void put_box(flow_t *f, double x0, double y0, double x1, double y1)
{
    int i, j, w = f->nx + 2;

    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++) {
            double x = (i - 0.5) * f->h, y = (j - 0.5) * f->h;
            if (x >= x0 && x <= x1 && y >= y0 && y <= y1)
                f->solid[j * w + i] = 1;
        }
}

/* Discs and boxes in turn, on a line across the box. */
void flow_obstacles(flow_t *f, int count)
{
    double width = f->nx * f->h;
    int k;

    for (k = 0; k < count; k++) {
        double x = width * (k + 1) / (count + 1), y = 0.35 + 0.3 * (k % 3) / 2.0, size = 0.3 * width / (count + 1);
        if (k % 2 == 0)
            put_disc(f, x, y, 0.5 * size);
        else
            put_box(f, x - 0.4 * size, y - 0.2 * size, x + 0.4 * size, y + 0.2 * size);
    }
}

int flow_solid_cells(const flow_t *f)
{
    int k, n = (f->nx + 2) * (f->ny + 2), count = 0;

    for (k = 0; k < n; k++)
        count += f->solid[k];
    return count;
}
