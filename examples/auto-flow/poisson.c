/* The pressure: its second derivatives are given, and it does not change across walls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow.h"

/* Sweeps of Jacobi's method, there and back; an odd last one is copied. */
static void jacobi(int nx, int ny, double hh, double *p, double *q, const double *rhs, int sweeps)
{
    int i, j, s, w = nx + 2;

    for (s = 0; s < sweeps; s++) {
        boundary_pressure(nx, ny, p);
        for (j = 1; j <= ny; j++)
            for (i = 1; i <= nx; i++)
                q[j * w + i] = 0.25
                               * (p[j * w + i - 1] + p[j * w + i + 1] + p[(j - 1) * w + i] + p[(j + 1) * w + i]
                                  - hh * rhs[j * w + i]);
        for (j = 1; j <= ny; j++)
            for (i = 1; i <= nx; i++)
                p[j * w + i] = q[j * w + i];
    }
    boundary_pressure(nx, ny, p);
}

/* Red cells, then black ones. */
static void sor(int nx, int ny, double hh, double *p, const double *rhs, double omega, int sweeps)
{
    int i, j, s, color, w = nx + 2;

    for (s = 0; s < sweeps; s++) {
        boundary_pressure(nx, ny, p);
        for (color = 0; color < 2; color++)
            for (j = 1; j <= ny; j++)
                for (i = 1 + (j + color) % 2; i <= nx; i += 2) {
                    int k = j * w + i;
                    double best = 0.25 * (p[k - 1] + p[k + 1] + p[k - w] + p[k + w] - hh * rhs[k]);
                    p[k] += omega * (best - p[k]);
                }
    }
    boundary_pressure(nx, ny, p);
}

static void defect(int nx, int ny, double hh, const double *p, const double *rhs, double *r)
{
    int i, j, w = nx + 2;

    for (j = 1; j <= ny; j++)
        for (i = 1; i <= nx; i++) {
            double lap = p[j * w + i - 1] + p[j * w + i + 1] + p[(j - 1) * w + i] + p[(j + 1) * w + i] - 4 * p[j * w + i];
            r[j * w + i] = rhs[j * w + i] - lap / hh;
        }
}

/* Means of two by two cells. */
static void restrict_grid(int nx, int ny, const double *fine, double *coarse)
{
    int i, j, w = nx + 2, fw = 2 * nx + 2;

    for (j = 1; j <= ny; j++)
        for (i = 1; i <= nx; i++)
            coarse[j * w + i] = 0.25
                                * (fine[(2 * j - 1) * fw + 2 * i - 1] + fine[(2 * j - 1) * fw + 2 * i]
                                   + fine[2 * j * fw + 2 * i - 1] + fine[2 * j * fw + 2 * i]);
}

static void prolong_grid(int nx, int ny, const double *coarse, double *fine)
{
    int i, j, w = nx + 2, fw = 2 * nx + 2;

    for (j = 1; j <= ny; j++)
        for (i = 1; i <= nx; i++) {
            double c = coarse[j * w + i];
            fine[(2 * j - 1) * fw + 2 * i - 1] += c;
            fine[(2 * j - 1) * fw + 2 * i] += c;
            fine[2 * j * fw + 2 * i - 1] += c;
            fine[2 * j * fw + 2 * i] += c;
        }
}

int grids_open(grids_t *g, int nx, int ny)
{
    memset(g, 0, sizeof *g);
    for (;;) {
        size_t n = (size_t)(nx + 2) * (size_t)(ny + 2);
        int l = g->levels;

        g->nx[l] = nx;
        g->ny[l] = ny;
        g->x[l] = calloc(n, sizeof(double));
        g->b[l] = calloc(n, sizeof(double));
        g->r[l] = calloc(n, sizeof(double));
        g->levels++;
        if (!g->x[l] || !g->b[l] || !g->r[l]) {
            grids_close(g);
            return -1;
        }
        if (nx % 2 || ny % 2 || nx < 8 || ny < 8 || g->levels == 16)
            return 0;
        nx /= 2;
        ny /= 2;
    }
}

void grids_close(grids_t *g)
{
    int l;

    for (l = 0; l < g->levels; l++) {
        free(g->x[l]);
        free(g->b[l]);
        free(g->r[l]);
    }
    memset(g, 0, sizeof *g);
}

static void cycle(grids_t *g, int l, double h, double omega)
{
    int nx = g->nx[l], ny = g->ny[l];
    double hh = h * h;

    if (l + 1 == g->levels) {
        sor(nx, ny, hh, g->x[l], g->b[l], omega, 20);
        return;
    }
    sor(nx, ny, hh, g->x[l], g->b[l], 1.0, 2);
    defect(nx, ny, hh, g->x[l], g->b[l], g->r[l]);
    restrict_grid(g->nx[l + 1], g->ny[l + 1], g->r[l], g->b[l + 1]);
    memset(g->x[l + 1], 0, sizeof(double) * (size_t)(g->nx[l + 1] + 2) * (size_t)(g->ny[l + 1] + 2));
    cycle(g, l + 1, 2 * h, omega);
    prolong_grid(g->nx[l + 1], g->ny[l + 1], g->x[l + 1], g->x[l]);
    sor(nx, ny, hh, g->x[l], g->b[l], 1.0, 2);
}

double poisson_residual(int nx, int ny, double h, const double *p, const double *rhs)
{
    int i, j, w = nx + 2;
    double sum = 0;

    for (j = 1; j <= ny; j++)
        for (i = 1; i <= nx; i++) {
            double lap = p[j * w + i - 1] + p[j * w + i + 1] + p[(j - 1) * w + i] + p[(j + 1) * w + i] - 4 * p[j * w + i];
            double r = rhs[j * w + i] - lap / (h * h);
            sum += r * r;
        }
    return sqrt(sum / ((double)nx * ny));
}

void poisson_solve(flow_t *f, const config_t *c, grids_t *g)
{
    size_t bytes = flow_cells(f) * sizeof(double);
    int k;

    switch (c->solver) {
    case SOLVE_JACOBI:
        jacobi(f->nx, f->ny, f->h * f->h, f->p, f->work, f->rhs, c->sweeps);
        break;
    case SOLVE_SOR:
        sor(f->nx, f->ny, f->h * f->h, f->p, f->rhs, c->omega, c->sweeps);
        break;
    default:
        memcpy(g->x[0], f->p, bytes);
        memcpy(g->b[0], f->rhs, bytes);
        for (k = 0; k < (c->sweeps + 9) / 10; k++)
            cycle(g, 0, f->h, c->omega);
        memcpy(f->p, g->x[0], bytes);
        break;
    }
}
