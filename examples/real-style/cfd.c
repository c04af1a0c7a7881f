#include "cfd.h"

#include <math.h>

#define CELL(j, k) FTNREF2D(j, k, x_max + 4, x_min - 2, y_min - 2)
#define CORNER(j, k) FTNREF2D(j, k, x_max + 5, x_min - 2, y_min - 2)

int grid_points[3];
int dims[LEVELS][3];
double u[PROBLEM_SIZE][PROBLEM_SIZE][PROBLEM_SIZE][5];
double rhs[PROBLEM_SIZE][PROBLEM_SIZE][PROBLEM_SIZE][5];

/* Pressure and speed of sound; two halo cells on every side, all arguments by reference. */
void ideal_gas(int *xmin, int *xmax, int *ymin, int *ymax, double *density, double *energy, double *pressure,
               double *soundspeed)
{
    int x_min = *xmin, x_max = *xmax, y_min = *ymin, y_max = *ymax;
    int j, k;
    double sound_speed_squared, v, pressurebyenergy, pressurebyvolume;
#pragma scop
    for (k = y_min; k <= y_max; k++) {
        for (j = x_min; j <= x_max; j++) {
            v = 1.0 / density[FTNREF2D(j, k, x_max + 4, x_min - 2, y_min - 2)];
            pressure[FTNREF2D(j, k, x_max + 4, x_min - 2, y_min - 2)] =
                (1.4 - 1.0) * density[FTNREF2D(j, k, x_max + 4, x_min - 2, y_min - 2)]
                * energy[FTNREF2D(j, k, x_max + 4, x_min - 2, y_min - 2)];
            pressurebyenergy = (1.4 - 1.0) * density[FTNREF2D(j, k, x_max + 4, x_min - 2, y_min - 2)];
            pressurebyvolume = -density[FTNREF2D(j, k, x_max + 4, x_min - 2, y_min - 2)]
                               * pressure[FTNREF2D(j, k, x_max + 4, x_min - 2, y_min - 2)];
            sound_speed_squared =
                v * v * (pressure[FTNREF2D(j, k, x_max + 4, x_min - 2, y_min - 2)] * pressurebyenergy - pressurebyvolume);
            soundspeed[FTNREF2D(j, k, x_max + 4, x_min - 2, y_min - 2)] = sqrt(sound_speed_squared);
        }
    }
#pragma endscop
}

/* Volume through the left faces; velocities live on corners, so their rows are one longer. */
void flux_calc(int x_min, int x_max, int y_min, int y_max, double dt, double *xarea, double *xvel0, double *xvel1,
               double *vol_flux_x)
{
    int j, k;
#pragma scop
    for (k = y_min; k <= y_max; k++) {
        for (j = x_min; j <= x_max + 1; j++) {
            vol_flux_x[FTNREF2D(j, k, x_max + 5, x_min - 2, y_min - 2)] =
                0.25 * dt * xarea[FTNREF2D(j, k, x_max + 5, x_min - 2, y_min - 2)]
                * (xvel0[FTNREF2D(j, k, x_max + 5, x_min - 2, y_min - 2)]
                   + xvel0[FTNREF2D(j, k + 1, x_max + 5, x_min - 2, y_min - 2)]
                   + xvel1[FTNREF2D(j, k, x_max + 5, x_min - 2, y_min - 2)]
                   + xvel1[FTNREF2D(j, k + 1, x_max + 5, x_min - 2, y_min - 2)]);
        }
    }
#pragma endscop
}

/* Cells outside mirror those inside. */
void halo_left_right(int x_min, int x_max, int y_min, int y_max, int depth, double *field)
{
    int j, k;
#pragma scop
    for (k = y_min - depth; k <= y_max + depth; k++) {
        for (j = 1; j <= depth; j++) {
            field[FTNREF2D(x_min - j, k, x_max + 4, x_min - 2, y_min - 2)] =
                field[FTNREF2D(x_min - 1 + j, k, x_max + 4, x_min - 2, y_min - 2)];
            field[FTNREF2D(x_max + j, k, x_max + 4, x_min - 2, y_min - 2)] =
                field[FTNREF2D(x_max + 1 - j, k, x_max + 4, x_min - 2, y_min - 2)];
        }
    }
#pragma endscop
}

/* Velocities on corners from the pressure of the four cells around. */
void accelerate(int x_min, int x_max, int y_min, int y_max, double dt, double *density0, double *volume,
                double *pressure, double *xarea, double *xvel0, double *xvel1)
{
    int j, k;
    double nodal_mass, stepby;
#pragma scop
    for (k = y_min; k <= y_max + 1; k++) {
        for (j = x_min; j <= x_max + 1; j++) {
            nodal_mass = (density0[CELL(j - 1, k - 1)] * volume[CELL(j - 1, k - 1)]
                          + density0[CELL(j, k - 1)] * volume[CELL(j, k - 1)] + density0[CELL(j, k)] * volume[CELL(j, k)]
                          + density0[CELL(j - 1, k)] * volume[CELL(j - 1, k)])
                         * 0.25;
            stepby = 0.5 * dt / nodal_mass;
            xvel1[CORNER(j, k)] = xvel0[CORNER(j, k)]
                                  - stepby
                                        * (xarea[CORNER(j, k)] * (pressure[CELL(j, k)] - pressure[CELL(j - 1, k)])
                                           + xarea[CORNER(j, k - 1)]
                                                 * (pressure[CELL(j, k - 1)] - pressure[CELL(j - 1, k - 1)]));
        }
    }
#pragma endscop
}

/* Differences along the first axis, with a dissipation of fourth order away from the walls. */
void compute_rhs_x(double dx1tx1, double dssp)
{
    int i, j, k, m;
#pragma scop
    for (i = 1; i < grid_points[0] - 1; i++)
        for (j = 1; j < grid_points[1] - 1; j++)
            for (k = 1; k < grid_points[2] - 1; k++)
                for (m = 0; m < 5; m++)
                    rhs[i][j][k][m] = rhs[i][j][k][m] + dx1tx1 * (u[i + 1][j][k][m] - 2.0 * u[i][j][k][m] + u[i - 1][j][k][m]);
    for (i = 3; i < grid_points[0] - 3; i++)
        for (j = 1; j < grid_points[1] - 1; j++)
            for (k = 1; k < grid_points[2] - 1; k++)
                for (m = 0; m < 5; m++)
                    rhs[i][j][k][m] = rhs[i][j][k][m]
                                      - dssp
                                            * (u[i - 2][j][k][m] - 4.0 * u[i - 1][j][k][m] + 6.0 * u[i][j][k][m]
                                               - 4.0 * u[i + 1][j][k][m] + u[i + 2][j][k][m]);
#pragma endscop
}

void add(void)
{
    int i, j, k, m;
#pragma scop
#pragma omp parallel for private(j, k, m)
    for (i = 1; i < grid_points[0] - 1; i++) {
        for (j = 1; j < grid_points[1] - 1; j++) {
            for (k = 1; k < grid_points[2] - 1; k++) {
                for (m = 0; m < 5; m++) {
                    u[i][j][k][m] = u[i][j][k][m] + rhs[i][j][k][m];
                }
            }
        }
    }
#pragma endscop
}

/* One sweep of a smoother on level l of a hierarchy of grids, red points only. */
void relax_level(int l, double *v, const double *r, double omega)
{
    int i, j;
#pragma scop
    for (j = 1; j < dims[l][1] - 1; j++)
        for (i = 1; i < dims[l][0] - 1; i++) {
            if ((i + j) % 2)
                continue;
            v[j * dims[l][0] + i] += omega
                                     * (0.25
                                            * (v[j * dims[l][0] + i - 1] + v[j * dims[l][0] + i + 1]
                                               + v[(j - 1) * dims[l][0] + i] + v[(j + 1) * dims[l][0] + i])
                                        - v[j * dims[l][0] + i] + r[j * dims[l][0] + i]);
        }
#pragma endscop
}

/* Tridiagonal systems, one per line: down, then up. */
void line_solve(int n_lines, int n, const double *lower, double *diag, const double *upper, double *f)
{
    int line, i;
#pragma scop
    for (line = 0; line < n_lines; line++) {
        for (i = 1; i < n; i++) {
            double w = lower[line * n + i] / diag[line * n + i - 1];
            diag[line * n + i] -= w * upper[line * n + i - 1];
            f[line * n + i] -= w * f[line * n + i - 1];
        }
        f[line * n + n - 1] /= diag[line * n + n - 1];
        for (i = n - 2; i >= 0; i--)
            f[line * n + i] = (f[line * n + i] - upper[line * n + i] * f[line * n + i + 1]) / diag[line * n + i];
    }
#pragma endscop
}

/* Gauss elimination of a block of 5 by 5 in every cell, without pivots. */
void block_lu(int cells, double (*a)[5][5], double (*b)[5])
{
    int c, p, i, j;
    double pivot, coeff;
#pragma scop
    for (c = 0; c < cells; c++)
        for (p = 0; p < 5; p++) {
            pivot = 1.0 / a[c][p][p];
            for (j = p + 1; j < 5; j++)
                a[c][p][j] *= pivot;
            b[c][p] *= pivot;
            for (i = 0; i < 5; i++) {
                if (i == p)
                    continue;
                coeff = a[c][i][p];
                for (j = p + 1; j < 5; j++)
                    a[c][i][j] -= coeff * a[c][p][j];
                b[c][i] -= coeff * b[c][p];
            }
        }
#pragma endscop
}

/* Heat in a plate with sources; four corners and four edges have formulas of their own. */
void plate_step(int rows, int cols, const float *temp, const float *power, float *result, float step, float rx, float ry,
                float rz, float around)
{
    int r, c;
    float delta;
#pragma scop
    for (r = 0; r < rows; r++)
        for (c = 0; c < cols; c++) {
            int at = r * cols + c;
            float here = temp[at];
            if (r == 0 && c == 0)
                delta = power[at] + (temp[at + 1] - here) * rx + (temp[at + cols] - here) * ry;
            else if (r == 0 && c == cols - 1)
                delta = power[at] + (temp[at - 1] - here) * rx + (temp[at + cols] - here) * ry;
            else if (r == rows - 1 && c == 0)
                delta = power[at] + (temp[at + 1] - here) * rx + (temp[at - cols] - here) * ry;
            else if (r == rows - 1 && c == cols - 1)
                delta = power[at] + (temp[at - 1] - here) * rx + (temp[at - cols] - here) * ry;
            else if (r == 0)
                delta = power[at] + (temp[at + 1] + temp[at - 1] - 2 * here) * rx + (temp[at + cols] - here) * ry;
            else if (r == rows - 1)
                delta = power[at] + (temp[at + 1] + temp[at - 1] - 2 * here) * rx + (temp[at - cols] - here) * ry;
            else if (c == 0)
                delta = power[at] + (temp[at + 1] - here) * rx + (temp[at + cols] + temp[at - cols] - 2 * here) * ry;
            else if (c == cols - 1)
                delta = power[at] + (temp[at - 1] - here) * rx + (temp[at + cols] + temp[at - cols] - 2 * here) * ry;
            else
                delta = power[at] + (temp[at + 1] + temp[at - 1] - 2 * here) * rx
                        + (temp[at + cols] + temp[at - cols] - 2 * here) * ry;
            result[at] = here + step * (delta + (around - here) * rz);
        }
#pragma endscop
}
