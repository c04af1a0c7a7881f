/* The pressure takes away what flows into a cell without flowing out of it. */
#include <math.h>

#include "flow.h"

void project_rhs(flow_t *f)
{
    int i, j, w = f->nx + 2;
    double factor = 0.5 / (f->h * f->dt), sum = 0, mean;

    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++)
            f->rhs[j * w + i] = factor
                                * (f->us[j * w + i + 1] - f->us[j * w + i - 1] + f->vs[(j + 1) * w + i]
                                   - f->vs[(j - 1) * w + i]);
    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++)
            sum += f->rhs[j * w + i];
    mean = sum / ((double)f->nx * f->ny);
    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++)
            f->rhs[j * w + i] -= mean;
}

void project_velocity(flow_t *f)
{
    const double *p = f->p, *us = f->us, *vs = f->vs;
    double *u = f->u, *v = f->v;
    double factor = 0.5 * f->dt / f->h;
    int i, j, nx = f->nx, ny = f->ny, w = nx + 2;

    for (j = 1; j <= ny; j++)
        for (i = 1; i <= nx; i++) {
            u[j * w + i] = us[j * w + i] - factor * (p[j * w + i + 1] - p[j * w + i - 1]);
            v[j * w + i] = vs[j * w + i] - factor * (p[(j + 1) * w + i] - p[(j - 1) * w + i]);
        }
}

double project_divergence(const flow_t *f)
{
    int i, j, w = f->nx + 2;
    double worst = 0;

    for (j = 2; j < f->ny; j++)
        for (i = 2; i < f->nx; i++) {
            double d = f->u[j * w + i + 1] - f->u[j * w + i - 1] + f->v[(j + 1) * w + i] - f->v[(j - 1) * w + i];
            d = fabs(0.5 * d / f->h);
            worst = d > worst ? d : worst;
        }
    return worst;
}
