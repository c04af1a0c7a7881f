/* Setting a basin up: its bottom, its shore, and what falls into it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "wave.h"

static double *cells(int nx, int ny)
{
    double *p = calloc((size_t)nx * (size_t)ny, sizeof *p);
    if (!p) {
        fprintf(stderr, "out of memory: %d x %d cells\n", nx, ny);
        exit(1);
    }
    return p;
}

/* A bottom that rises towards the right, with a hill in it. */
static void make_bottom(int nx, int ny, double *depth)
{
    int x, y;

    for (y = 0; y < ny; y++)
        for (x = 0; x < nx; x++) {
            double u = (double)x / nx, v = (double)y / ny;
            double hill = (u - 0.6) * (u - 0.6) + (v - 0.4) * (v - 0.4);
            depth[y * nx + x] = 1.0 - 0.5 * u - 0.3 / (1.0 + 40.0 * hill);
        }
}

/* Near the shore waves lose their height; the frame is `rim` cells wide. */
static void make_shore(int nx, int ny, int rim, double *damping)
{
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            int left = x < nx - 1 - x ? x : nx - 1 - x;
            int top = y < ny - 1 - y ? y : ny - 1 - y;
            int near = left < top ? left : top;
            damping[y * nx + x] = near < rim ? 1.0 - 0.02 * (rim - near) : 1.0;
        }
}

void basin_open(struct basin *b, int nx, int ny)
{
    b->nx = nx;
    b->ny = ny;
    b->now = cells(nx, ny);
    b->before = cells(nx, ny);
    b->depth = cells(nx, ny);
    b->damping = cells(nx, ny);
    make_bottom(nx, ny, b->depth);
    make_shore(nx, ny, 8, b->damping);
}

void basin_close(struct basin *b)
{
    free(b->now);
    free(b->before);
    free(b->depth);
    free(b->damping);
}

/* A drop: a round bump of the water at rest. exp() of every cell, once. */
void basin_drop(struct basin *b, double x, double y, double radius, double height)
{
    const int nx = b->nx, ny = b->ny;
    double *now = b->now, *before = b->before;

    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            double dx = (i - x * nx) / radius, dy = (j - y * ny) / radius;
            double bump = height * exp(-(dx * dx + dy * dy));
            now[j * nx + i] += bump;
            before[j * nx + i] += bump;
        }
}
