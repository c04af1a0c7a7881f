#include "lattice.h"

#define AT(x, y) now[((y + ny) % ny) * nx + (x + nx) % nx]

/* Push the fluid in the second row from the top, where there is room. */
int lattice_accelerate(const t_param params, t_speed *cells, int *obstacles)
{
    float w1 = params.density * params.accel / 9.f;
    float w2 = params.density * params.accel / 36.f;
    int jj = params.ny - 2;
    int ii;
#pragma scop
    for (ii = 0; ii < params.nx; ii++) {
        if (!obstacles[ii + jj * params.nx] && (cells[ii + jj * params.nx].speeds[3] - w1) > 0.f
            && (cells[ii + jj * params.nx].speeds[6] - w2) > 0.f) {
            cells[ii + jj * params.nx].speeds[1] += w1;
            cells[ii + jj * params.nx].speeds[5] += w2;
            cells[ii + jj * params.nx].speeds[3] -= w1;
            cells[ii + jj * params.nx].speeds[6] -= w2;
        }
    }
#pragma endscop
    return 0;
}

/* Every speed comes from the neighbour that it left. */
int lattice_propagate(const t_param params, t_speed *cells, t_speed *tmp_cells)
{
#pragma scop
    for (int jj = 0; jj < params.ny; jj++) {
        for (int ii = 0; ii < params.nx; ii++) {
            int y_n = (jj + 1) % params.ny;
            int x_e = (ii + 1) % params.nx;
            int y_s = (jj == 0) ? (jj + params.ny - 1) : (jj - 1);
            int x_w = (ii == 0) ? (ii + params.nx - 1) : (ii - 1);
            tmp_cells[ii + jj * params.nx].speeds[0] = cells[ii + jj * params.nx].speeds[0];
            tmp_cells[ii + jj * params.nx].speeds[1] = cells[x_w + jj * params.nx].speeds[1];
            tmp_cells[ii + jj * params.nx].speeds[2] = cells[ii + y_s * params.nx].speeds[2];
            tmp_cells[ii + jj * params.nx].speeds[3] = cells[x_e + jj * params.nx].speeds[3];
            tmp_cells[ii + jj * params.nx].speeds[4] = cells[ii + y_n * params.nx].speeds[4];
            tmp_cells[ii + jj * params.nx].speeds[5] = cells[x_w + y_s * params.nx].speeds[5];
            tmp_cells[ii + jj * params.nx].speeds[6] = cells[x_e + y_s * params.nx].speeds[6];
            tmp_cells[ii + jj * params.nx].speeds[7] = cells[x_e + y_n * params.nx].speeds[7];
            tmp_cells[ii + jj * params.nx].speeds[8] = cells[x_w + y_n * params.nx].speeds[8];
        }
    }
#pragma endscop
    return 0;
}

/* At obstacles, speeds turn round. */
int lattice_rebound(const t_param params, t_speed *cells, t_speed *tmp_cells, int *obstacles)
{
    int ii, jj;
#pragma scop
    for (jj = 0; jj < params.ny; jj++)
        for (ii = 0; ii < params.nx; ii++)
            if (obstacles[jj * params.nx + ii]) {
                cells[ii + jj * params.nx].speeds[1] = tmp_cells[ii + jj * params.nx].speeds[3];
                cells[ii + jj * params.nx].speeds[2] = tmp_cells[ii + jj * params.nx].speeds[4];
                cells[ii + jj * params.nx].speeds[3] = tmp_cells[ii + jj * params.nx].speeds[1];
                cells[ii + jj * params.nx].speeds[4] = tmp_cells[ii + jj * params.nx].speeds[2];
                cells[ii + jj * params.nx].speeds[5] = tmp_cells[ii + jj * params.nx].speeds[7];
                cells[ii + jj * params.nx].speeds[6] = tmp_cells[ii + jj * params.nx].speeds[8];
                cells[ii + jj * params.nx].speeds[7] = tmp_cells[ii + jj * params.nx].speeds[5];
                cells[ii + jj * params.nx].speeds[8] = tmp_cells[ii + jj * params.nx].speeds[6];
            }
#pragma endscop
    return 0;
}

/* Relax towards local equilibrium (the terms of first order) where there is fluid. */
int lattice_collide(const t_param params, t_speed *cells, t_speed *tmp_cells, int *obstacles)
{
    const float w0 = 4.f / 9.f, w1 = 1.f / 9.f;
#pragma scop
    for (int jj = 0; jj < params.ny; jj++)
        for (int ii = 0; ii < params.nx; ii++) {
            if (obstacles[jj * params.nx + ii])
                continue;
            float local_density = 0.f;
            for (int kk = 0; kk < NSPEEDS; kk++)
                local_density += tmp_cells[ii + jj * params.nx].speeds[kk];
            float u_x = (tmp_cells[ii + jj * params.nx].speeds[1] - tmp_cells[ii + jj * params.nx].speeds[3])
                        / local_density;
            float d_equ[NSPEEDS];
            d_equ[0] = w0 * local_density;
            for (int kk = 1; kk < NSPEEDS; kk++)
                d_equ[kk] = w1 * local_density * (1.f + 3.f * u_x);
            for (int kk = 0; kk < NSPEEDS; kk++)
                cells[ii + jj * params.nx].speeds[kk] =
                    tmp_cells[ii + jj * params.nx].speeds[kk]
                    + params.omega * (d_equ[kk] - tmp_cells[ii + jj * params.nx].speeds[kk]);
        }
#pragma endscop
    return 0;
}

void lattice_density(const t_param *params, const t_speed *cells, float *rho)
{
    int i, k;
#pragma scop
    for (i = 0; i < params->nx * params->ny; i++) {
        const t_speed *c = &cells[i];
        float sum = 0.f;
        for (k = 0; k < NSPEEDS; k++)
            sum += c->speeds[k];
        rho[i] = sum;
    }
#pragma endscop
}

/* Diffusion on a torus. */
void lattice_heat_step(int nx, int ny, const double *now, double *next, double k)
{
#pragma scop
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++)
            next[y * nx + x] = AT(x, y) + k * (AT(x - 1, y) + AT(x + 1, y) + AT(x, y - 1) + AT(x, y + 1) - 4 * AT(x, y));
#pragma endscop
}

/* Energy of each row of a square of spins; what leaves on one side comes in on the other. */
void lattice_spin_energy(int n, const signed char *spin, int *energy)
{
    int i, j, right, down;
#pragma scop
    for (i = 0; i < n; i++) {
        int e = 0;
        for (j = 0; j < n; j++) {
            right = j + 1 == n ? 0 : j + 1;
            down = i + 1 == n ? 0 : i + 1;
            e -= spin[i * n + j] * (spin[i * n + right] + spin[down * n + j]);
        }
        energy[i] = e;
    }
#pragma endscop
}

/* A board of cells that live or die; the frame around it is dead. */
void lattice_life(int rows, int cols, const unsigned char *old_board, unsigned char *board)
{
    int r, c, dr, dc, n;
#pragma scop
    for (r = 0; r < rows; r++)
        for (c = 0; c < cols; c++) {
            n = 0;
            for (dr = -1; dr <= 1; dr++)
                for (dc = -1; dc <= 1; dc++) {
                    if (dr == 0 && dc == 0)
                        continue;
                    if (r + dr < 0 || r + dr >= rows || c + dc < 0 || c + dc >= cols)
                        continue;
                    n += old_board[(r + dr) * cols + c + dc];
                }
            if (old_board[r * cols + c])
                board[r * cols + c] = n == 2 || n == 3;
            else
                board[r * cols + c] = n == 3;
        }
#pragma endscop
}

/* A closed chain of masses: each pulls on the next. */
void lattice_springs(int n, const vec2 *at, vec2 *force, double stiffness)
{
    int i;
#pragma scop
    i = 0;
    while (i < n) {
        int next = (i + 1) % n, last = (i + n - 1) % n;
        force[i].x = stiffness * (at[next].x - 2 * at[i].x + at[last].x);
        force[i].y = stiffness * (at[next].y - 2 * at[i].y + at[last].y);
        i++;
    }
#pragma endscop
}
