/* What the flow carries along, and what spreads by itself. */
#include <math.h>

#include "flow.h"

/* The longest step at which nothing passes more than a part of a cell, by speed or by diffusion. */
double advect_time_step(const flow_t *f, const config_t *c)
{
    int i, j, w = f->nx + 2;
    double fastest = 1e-6, spread = 1.0 / c->reynolds, dt;

    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++) {
            double speed = fabs(f->u[j * w + i]) + fabs(f->v[j * w + i]);
            if (speed > fastest)
                fastest = speed;
        }
    if (spread < 1.0 / (c->reynolds * c->prandtl))
        spread = 1.0 / (c->reynolds * c->prandtl);
    dt = c->cfl * f->h / fastest;
    if (dt > 0.2 * f->h * f->h / spread)
        dt = 0.2 * f->h * f->h / spread;
    return dt;
}

/* Velocities after advection (upwind), viscosity and buoyancy. */
void advect_momentum(flow_t *f, double viscosity, double buoyancy)
{
    const double *u = f->u, *v = f->v, *t = f->t;
    double *us = f->us, *vs = f->vs;
    double dt = f->dt, a = dt / f->h, d = viscosity * dt / (f->h * f->h);
    int i, j, nx = f->nx, ny = f->ny, w = nx + 2;

    for (j = 1; j <= ny; j++)
        for (i = 1; i <= nx; i++) {
            int k = j * w + i;
            double uc = u[k], vc = v[k];
            double up = uc > 0 ? uc : 0, un = uc < 0 ? uc : 0;
            double vp = vc > 0 ? vc : 0, vn = vc < 0 ? vc : 0;
            double ux = up * (uc - u[k - 1]) + un * (u[k + 1] - uc);
            double uy = vp * (uc - u[k - w]) + vn * (u[k + w] - uc);
            double vx = up * (vc - v[k - 1]) + un * (v[k + 1] - vc);
            double vy = vp * (vc - v[k - w]) + vn * (v[k + w] - vc);
            double lap_u = u[k - 1] + u[k + 1] + u[k - w] + u[k + w] - 4 * uc;
            double lap_v = v[k - 1] + v[k + 1] + v[k - w] + v[k + w] - 4 * vc;
            us[k] = uc - a * (ux + uy) + d * lap_u;
            vs[k] = vc - a * (vx + vy) + d * lap_v + dt * buoyancy * t[k];
        }
}

void advect_temperature(flow_t *f, double diffusivity)
{
    double a = f->dt / f->h, d = diffusivity * f->dt / (f->h * f->h);
    int i, j, w = f->nx + 2;

    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++) {
            int k = j * w + i;
            double tc = f->t[k], uc = f->u[k], vc = f->v[k];
            double tx = uc > 0 ? uc * (tc - f->t[k - 1]) : uc * (f->t[k + 1] - tc);
            double ty = vc > 0 ? vc * (tc - f->t[k - w]) : vc * (f->t[k + w] - tc);
            double lap = f->t[k - 1] + f->t[k + 1] + f->t[k - w] + f->t[k + w] - 4 * tc;
            f->ts[k] = tc - a * (tx + ty) + d * lap;
        }
    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++)
            f->t[j * w + i] = f->ts[j * w + i];
}

/* A little of the mean of the neighbours that there are: corners and edges of the box have fewer. */
void advect_smooth(flow_t *f, double strength)
{
    int i, j, nx = f->nx, ny = f->ny, w = nx + 2;
    double *t = f->t, *s = f->ts;

    for (j = 1; j <= ny; j++)
        for (i = 1; i <= nx; i++) {
            double sum = 0;
            int n = 0;
            if (i > 1) {
                sum += t[j * w + i - 1];
                n++;
            }
            if (i < nx) {
                sum += t[j * w + i + 1];
                n++;
            }
            if (j > 1) {
                sum += t[(j - 1) * w + i];
                n++;
            }
            if (j < ny) {
                sum += t[(j + 1) * w + i];
                n++;
            }
            s[j * w + i] = (1 - strength) * t[j * w + i] + strength * sum / n;
        }
    for (j = 1; j <= ny; j++)
        for (i = 1; i <= nx; i++)
            t[j * w + i] = s[j * w + i];
}
