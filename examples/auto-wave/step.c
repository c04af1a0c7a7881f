/* One step of the wave equation, second order in time and space. */
#include "wave.h"

/* The new heights replace those of the step before, cell by cell: each is read once, where it is written. */
static void advance(int nx, int ny, double courant, const double *restrict now, double *restrict before,
                    const double *restrict depth, const double *restrict damping)
{
    for (int y = 1; y < ny - 1; y++)
        for (int x = 1; x < nx - 1; x++) {
            double here = now[y * nx + x];
            double around = now[y * nx + x - 1] + now[y * nx + x + 1] + now[(y - 1) * nx + x] + now[(y + 1) * nx + x];
            double speed = courant * courant * depth[y * nx + x];
            double next = 2.0 * here - before[y * nx + x] + speed * (around - 4.0 * here);
            before[y * nx + x] = next * damping[y * nx + x];
        }
}

void basin_step(struct basin *b, double courant)
{
    double *other = b->before;

    advance(b->nx, b->ny, courant, b->now, b->before, b->depth, b->damping);
    b->before = b->now;
    b->now = other;
}

/* Walls: the outermost cells are as high as their neighbours. Four short loops, of no account beside the step. */
void basin_walls(struct basin *b)
{
    const int nx = b->nx, ny = b->ny;
    double *h = b->now;
    int k;

    for (k = 0; k < nx; k++) {
        h[k] = h[nx + k];
        h[(ny - 1) * nx + k] = h[(ny - 2) * nx + k];
    }
    for (k = 0; k < ny; k++) {
        h[k * nx] = h[k * nx + 1];
        h[k * nx + nx - 1] = h[k * nx + nx - 2];
    }
}
