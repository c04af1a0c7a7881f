/* Cells outside of the box and inside of obstacles. */
#include "flow.h"

/* Across a wall that does not let anything through the velocity changes its sign. */
static void wall_x(int nx, int ny, int at, int from, const wall_t *wall, double *u, double *v)
{
    int j, w = nx + 2;

    for (j = 1; j <= ny; j++) {
        double inner_u = u[j * w + from], inner_v = v[j * w + from];
        switch (wall->kind) {
        case WALL_SLIP:
            u[j * w + at] = -inner_u;
            v[j * w + at] = inner_v;
            break;
        case WALL_INFLOW:
            u[j * w + at] = 2 * wall->speed - inner_u;
            v[j * w + at] = -inner_v;
            break;
        case WALL_OUTFLOW:
            u[j * w + at] = inner_u;
            v[j * w + at] = inner_v;
            break;
        default:
            u[j * w + at] = -inner_u;
            v[j * w + at] = 2 * wall->speed - inner_v;
            break;
        }
    }
}

static void wall_y(int nx, int at, int from, const wall_t *wall, double *u, double *v)
{
    int i, w = nx + 2;

    for (i = 0; i <= nx + 1; i++) {
        double inner_u = u[from * w + i], inner_v = v[from * w + i];
        switch (wall->kind) {
        case WALL_SLIP:
            u[at * w + i] = inner_u;
            v[at * w + i] = -inner_v;
            break;
        case WALL_INFLOW:
            u[at * w + i] = -inner_u;
            v[at * w + i] = 2 * wall->speed - inner_v;
            break;
        case WALL_OUTFLOW:
            u[at * w + i] = inner_u;
            v[at * w + i] = inner_v;
            break;
        default:
            u[at * w + i] = 2 * wall->speed - inner_u;
            v[at * w + i] = -inner_v;
            break;
        }
    }
}

void boundary_velocity(flow_t *f, const wall_t wall[SIDES], double *u, double *v)
{
    wall_x(f->nx, f->ny, 0, 1, &wall[LEFT], u, v);
    wall_x(f->nx, f->ny, f->nx + 1, f->nx, &wall[RIGHT], u, v);
    wall_y(f->nx, 0, 1, &wall[BOTTOM], u, v);
    wall_y(f->nx, f->ny + 1, f->ny, &wall[TOP], u, v);
}

void boundary_temperature(flow_t *f, const wall_t wall[SIDES], double *t)
{
    int i, j, nx = f->nx, ny = f->ny, w = nx + 2;

    for (j = 1; j <= ny; j++) {
        t[j * w] = wall[LEFT].insulated ? t[j * w + 1] : 2 * wall[LEFT].temperature - t[j * w + 1];
        t[j * w + nx + 1] = wall[RIGHT].insulated ? t[j * w + nx] : 2 * wall[RIGHT].temperature - t[j * w + nx];
    }
    for (i = 0; i <= nx + 1; i++) {
        t[i] = wall[BOTTOM].insulated ? t[w + i] : 2 * wall[BOTTOM].temperature - t[w + i];
        t[(ny + 1) * w + i] = wall[TOP].insulated ? t[ny * w + i] : 2 * wall[TOP].temperature - t[ny * w + i];
    }
}

/* No pressure gradient across walls. */
void boundary_pressure(int nx, int ny, double *p)
{
    int i, j, w = nx + 2;

    for (j = 1; j <= ny; j++) {
        p[j * w] = p[j * w + 1];
        p[j * w + nx + 1] = p[j * w + nx];
    }
    for (i = 0; i <= nx + 1; i++) {
        p[i] = p[w + i];
        p[(ny + 1) * w + i] = p[ny * w + i];
    }
}

void boundary_obstacles(flow_t *f, double *u, double *v)
{
    int k, n = (f->nx + 2) * (f->ny + 2);

    for (k = 0; k < n; k++)
        if (f->solid[k]) {
            u[k] = 0;
            v[k] = 0;
        }
}
