/* Numbers that describe the flow. */
#include <math.h>
#include <string.h>

#include "flow.h"

figures_t figures_take(const flow_t *f)
{
    figures_t s;
    int i, j, w = f->nx + 2;
    double kinetic = 0, enstrophy = 0, heat = 0;
    double u_max = 0, v_max = 0, t_min = f->t[w + 1], t_max = f->t[w + 1];

    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++)
            kinetic += f->u[j * w + i] * f->u[j * w + i] + f->v[j * w + i] * f->v[j * w + i];
    for (j = 2; j < f->ny; j++)
        for (i = 2; i < f->nx; i++) {
            double curl = f->v[j * w + i + 1] - f->v[j * w + i - 1] - f->u[(j + 1) * w + i] + f->u[(j - 1) * w + i];
            enstrophy += curl * curl;
        }
    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++) {
            double t = f->t[j * w + i];
            heat += t;
            if (t < t_min)
                t_min = t;
            if (t > t_max)
                t_max = t;
            if (fabs(f->u[j * w + i]) > u_max)
                u_max = fabs(f->u[j * w + i]);
            if (fabs(f->v[j * w + i]) > v_max)
                v_max = fabs(f->v[j * w + i]);
        }
    s.kinetic = 0.5 * kinetic * f->h * f->h;
    s.enstrophy = 0.25 * enstrophy;
    s.heat = heat / ((double)f->nx * f->ny);
    s.u_max = u_max;
    s.v_max = v_max;
    s.t_min = t_min;
    s.t_max = t_max;
    s.divergence = project_divergence(f);
    return s;
}

void figures_mean(flow_t *f)
{
    int k, n = (f->nx + 2) * (f->ny + 2);

    for (k = 0; k < n; k++) {
        f->u_mean[k] += f->u[k];
        f->v_mean[k] += f->v[k];
    }
    f->n_mean++;
}

/* Mean velocities along the two lines through the middle. */
void figures_profile(const flow_t *f, double *u_of_y, double *v_of_x)
{
    int i, j, w = f->nx + 2, mi = f->nx / 2, mj = f->ny / 2;
    double scale = f->n_mean ? 1.0 / f->n_mean : 0;

    for (j = 1; j <= f->ny; j++)
        u_of_y[j - 1] = scale * f->u_mean[j * w + mi];
    for (i = 1; i <= f->nx; i++)
        v_of_x[i - 1] = scale * f->v_mean[mj * w + i];
}

/* How often each temperature occurs. */
void figures_histogram(const flow_t *f, int bins, long *counts)
{
    figures_t s = figures_take(f);
    double scale = bins / (s.t_max - s.t_min + 1e-12);
    int i, j, w = f->nx + 2;

    memset(counts, 0, (size_t)bins * sizeof *counts);
    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++) {
            int b = (int)((f->t[j * w + i] - s.t_min) * scale);
            if (b >= bins)
                b = bins - 1;
            counts[b]++;
        }
}

void figures_vorticity(const flow_t *f, double *curl)
{
    int i, j, nx = f->nx, ny = f->ny, w = nx + 2;
    double scale = 0.5 / f->h;

    for (j = 0; j < ny + 2; j++)
        for (i = 0; i < nx + 2; i++) {
            if (i == 0 || j == 0 || i == nx + 1 || j == ny + 1)
                curl[j * w + i] = 0;
            else
                curl[j * w + i] = scale
                                  * (f->v[j * w + i + 1] - f->v[j * w + i - 1] - f->u[(j + 1) * w + i]
                                     + f->u[(j - 1) * w + i]);
        }
}

/* What flows through between the floor and each place; the greatest of it. */
double figures_streamfunction(const flow_t *f, double *psi)
{
    int i, j, w = f->nx + 2;
    double most = 0;

    for (i = 0; i <= f->nx + 1; i++)
        psi[i] = 0;
    for (j = 1; j <= f->ny + 1; j++)
        for (i = 0; i <= f->nx + 1; i++)
            psi[j * w + i] = psi[(j - 1) * w + i] + 0.5 * f->h * (f->u[j * w + i] + f->u[(j - 1) * w + i]);
    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++)
            if (fabs(psi[j * w + i]) > most)
                most = fabs(psi[j * w + i]);
    return most;
}

/* Waves along the rows, summed up over all of them. */
void figures_spectrum(const flow_t *f, int modes, double *power)
{
    int i, j, m, w = f->nx + 2;

    for (m = 0; m < modes; m++) {
        double total = 0;
        for (j = 1; j <= f->ny; j++) {
            double re = 0, im = 0;
            for (i = 1; i <= f->nx; i++) {
                double phase = 6.283185307179586 * m * (i - 1) / f->nx;
                re += f->v[j * w + i] * cos(phase);
                im -= f->v[j * w + i] * sin(phase);
            }
            total += re * re + im * im;
        }
        power[m] = total / f->ny;
    }
}
