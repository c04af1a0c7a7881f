/* Flow of a warm fluid in a box with obstacles: velocities, pressure and temperature on one grid.
 *
 * All fields have nx by ny cells and one cell more on every side, row after row: the value of cell (i, j), counted from
 * 1, is field[j * (nx + 2) + i]. */
#ifndef FLOW_H
#define FLOW_H

#include <stddef.h>

enum side { LEFT, RIGHT, BOTTOM, TOP, SIDES };
enum wall { WALL_NO_SLIP, WALL_SLIP, WALL_INFLOW, WALL_OUTFLOW };
enum solver { SOLVE_JACOBI, SOLVE_SOR, SOLVE_MULTIGRID };

typedef struct {
    enum wall kind;
    double speed;       /* along the wall, or into the box */
    double temperature; /* of the wall, where it is not insulated */
    int insulated;
} wall_t;

typedef struct {
    int nx, ny;
    int steps, report_every;
    int sweeps; /* of the pressure solver in every step */
    enum solver solver;
    double reynolds, prandtl, buoyancy;
    double cfl;
    double omega; /* of SOR */
    int particles;
    int obstacles;
    wall_t wall[SIDES];
    const char *picture; /* file for a picture at the end; none if empty */
} config_t;

typedef struct {
    int nx, ny;
    double h;  /* distance of cells */
    double dt; /* of the step under way */
    double time;
    double *u, *v, *p, *t;    /* velocities, pressure, temperature */
    double *us, *vs, *ts;     /* the same before the pressure acts */
    double *rhs, *work;       /* of the pressure equation */
    unsigned char *solid;     /* cells that are part of an obstacle */
    double *u_mean, *v_mean;  /* summed up over time */
    int n_mean;
} flow_t;

typedef struct {
    int n;
    double *x, *y;
    unsigned char *lost; /* left the box */
} swarm_t;

typedef struct {
    double kinetic, enstrophy, heat;
    double u_max, v_max, t_min, t_max;
    double divergence; /* greatest of all cells */
} figures_t;

typedef struct {
    int levels;
    int nx[16], ny[16];
    double *x[16], *b[16], *r[16];
} grids_t;

/* config.c */
void config_default(config_t *c);
int config_args(config_t *c, int argc, char **argv);
void config_print(const config_t *c);

/* grid.c */
int flow_open(flow_t *f, const config_t *c);
void flow_close(flow_t *f);
void flow_obstacles(flow_t *f, int count);
size_t flow_cells(const flow_t *f);
int flow_solid_cells(const flow_t *f);

/* boundary.c */
void boundary_velocity(flow_t *f, const wall_t wall[SIDES], double *u, double *v);
void boundary_temperature(flow_t *f, const wall_t wall[SIDES], double *t);
void boundary_pressure(int nx, int ny, double *p);
void boundary_obstacles(flow_t *f, double *u, double *v);

/* advect.c */
double advect_time_step(const flow_t *f, const config_t *c);
void advect_momentum(flow_t *f, double viscosity, double buoyancy);
void advect_temperature(flow_t *f, double diffusivity);
void advect_smooth(flow_t *f, double strength);

/* poisson.c */
int grids_open(grids_t *g, int nx, int ny);
void grids_close(grids_t *g);
double poisson_residual(int nx, int ny, double h, const double *p, const double *rhs);
void poisson_solve(flow_t *f, const config_t *c, grids_t *g);

/* project.c */
void project_rhs(flow_t *f);
void project_velocity(flow_t *f);
double project_divergence(const flow_t *f);

/* swarm.c */
int swarm_open(swarm_t *s, int n);
void swarm_close(swarm_t *s);
void swarm_move(swarm_t *s, const flow_t *f);
int swarm_left(const swarm_t *s);
void swarm_spread(const swarm_t *s, double *mx, double *my, double *deviation);

/* figures.c */
figures_t figures_take(const flow_t *f);
void figures_mean(flow_t *f);
void figures_profile(const flow_t *f, double *u_of_y, double *v_of_x);
void figures_histogram(const flow_t *f, int bins, long *counts);
void figures_vorticity(const flow_t *f, double *w);
double figures_streamfunction(const flow_t *f, double *psi);
void figures_spectrum(const flow_t *f, int modes, double *power);

/* output.c */
void output_line(int step, const flow_t *f, const figures_t *s);
void output_map(const flow_t *f, const double *field, const char *title);
void output_profile(const char *title, const double *values, int n, int every);
int output_picture(const flow_t *f, const double *field, const char *name);

#endif
