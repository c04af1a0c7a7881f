/* flow [NAME=VALUE ...]: a warm fluid under a moving lid, around obstacles. Everything but the last line, which is the
 * time, is the same in every run. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "flow.h"

enum { BINS = 12, MODES = 6 };

static double seconds(void)
{
    struct timespec t;

    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void one_step(flow_t *f, const config_t *c, grids_t *g, swarm_t *swarm)
{
    double viscosity = 1.0 / c->reynolds, diffusivity = 1.0 / (c->reynolds * c->prandtl);

    f->dt = advect_time_step(f, c);
    boundary_velocity(f, c->wall, f->u, f->v);
    boundary_temperature(f, c->wall, f->t);
    advect_momentum(f, viscosity, c->buoyancy);
    advect_temperature(f, diffusivity);
    advect_smooth(f, 0.02);
    boundary_obstacles(f, f->us, f->vs);
    boundary_velocity(f, c->wall, f->us, f->vs);
    project_rhs(f);
    poisson_solve(f, c, g);
    project_velocity(f);
    boundary_obstacles(f, f->u, f->v);
    boundary_velocity(f, c->wall, f->u, f->v);
    swarm_move(swarm, f);
    figures_mean(f);
    f->time += f->dt;
}

static void last_words(const flow_t *f, const swarm_t *swarm)
{
    double *field = calloc(flow_cells(f), sizeof(double)), power[MODES];
    double *u_of_y = calloc((size_t)f->ny, sizeof(double)), *v_of_x = calloc((size_t)f->nx, sizeof(double));
    double mx, my, deviation;
    long counts[BINS];
    int k;

    if (!field || !u_of_y || !v_of_x) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    output_map(f, f->t, "temperature");
    figures_vorticity(f, field);
    output_map(f, field, "vorticity");
    printf("stream function: at most %.6f\n", figures_streamfunction(f, field));
    figures_profile(f, u_of_y, v_of_x);
    output_profile("u along the vertical", u_of_y, f->ny, f->ny / 10);
    output_profile("v along the horizontal", v_of_x, f->nx, f->nx / 10);
    figures_histogram(f, BINS, counts);
    printf("temperatures:");
    for (k = 0; k < BINS; k++)
        printf(" %ld", counts[k]);
    printf("\n");
    figures_spectrum(f, MODES, power);
    printf("waves:");
    for (k = 0; k < MODES; k++)
        printf(" %.4e", power[k]);
    printf("\n");
    swarm_spread(swarm, &mx, &my, &deviation);
    printf("particles: %d left, around %.4f %.4f, spread %.4f\n", swarm_left(swarm), mx, my, deviation);
    free(field);
    free(u_of_y);
    free(v_of_x);
}

int main(int argc, char **argv)
{
    config_t c;
    flow_t f;
    grids_t g;
    swarm_t swarm;
    double start;
    int step;

    config_default(&c);
    if (config_args(&c, argc, argv) != 0)
        return 2;
    if (flow_open(&f, &c) != 0 || grids_open(&g, c.nx, c.ny) != 0 || swarm_open(&swarm, c.particles) != 0) {
        fprintf(stderr, "%s: out of memory\n", argv[0]);
        return 1;
    }
    config_print(&c);
    flow_obstacles(&f, c.obstacles);
    printf("%d cells are solid\n", flow_solid_cells(&f));
    start = seconds();
    for (step = 1; step <= c.steps; step++) {
        one_step(&f, &c, &g, &swarm);
        if (step % c.report_every == 0 || step == c.steps) {
            figures_t s = figures_take(&f);
            output_line(step, &f, &s);
        }
    }
    start = seconds() - start;
    last_words(&f, &swarm);
    printf("pressure left over: %.4e\n", poisson_residual(f.nx, f.ny, f.h, f.p, f.rhs));
    if (c.picture[0] && output_picture(&f, f.t, c.picture) != 0)
        return 1;
    printf("%.3f s\n", start);
    swarm_close(&swarm);
    grids_close(&g);
    flow_close(&f);
    return 0;
}
