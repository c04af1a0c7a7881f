#include "seismic.h"

static int clip_index(int i, int n)
{
    if (i < 0)
        return 0;
    if (i >= n)
        return n - 1;
    return i;
}

/* One step of second order in time and space. */
void wave_step(float **next, float **now, float **vel, int nx, int nz, float c)
{
    int ix, iz;
#pragma scop
    for (ix = 1; ix < nx - 1; ix++)
        for (iz = 1; iz < nz - 1; iz++) {
            float lap = now[ix - 1][iz] + now[ix + 1][iz] + now[ix][iz - 1] + now[ix][iz + 1] - 4.0f * now[ix][iz];
            next[ix][iz] = 2.0f * now[ix][iz] - next[ix][iz] + c * vel[ix][iz] * vel[ix][iz] * lap;
        }
#pragma endscop
}

/* All steps of a shot, two grids in turn. */
void wave_march(float **p0, float **p1, float **v2, int nx, int nz, int nt, const float *wavelet, int sx, int sz)
{
    int it, ix, iz;
#pragma scop
    for (it = 0; it < nt; it++) {
        for (ix = 1; ix < nx - 1; ix++)
            for (iz = 1; iz < nz - 1; iz++)
                p0[ix][iz] = 2 * p1[ix][iz] - p0[ix][iz]
                             + v2[ix][iz]
                                   * (p1[ix + 1][iz] + p1[ix - 1][iz] + p1[ix][iz + 1] + p1[ix][iz - 1] - 4 * p1[ix][iz]);
        p0[sx][sz] += wavelet[it];
        for (ix = 1; ix < nx - 1; ix++)
            for (iz = 1; iz < nz - 1; iz++) {
                float swap = p0[ix][iz];
                p0[ix][iz] = p1[ix][iz];
                p1[ix][iz] = swap;
            }
    }
#pragma endscop
}

/* Damp waves in nb cells at the left, the right and the bottom; the surface is free. */
void absorb_borders(float **p, const float *taper, int nx, int nz, int nb)
{
    int ix, iz;
#pragma scop
    for (ix = 0; ix < nx; ix++) {
        for (iz = 0; iz < nz; iz++) {
            if (ix < nb)
                p[ix][iz] *= taper[ix];
            else if (ix >= nx - nb)
                p[ix][iz] *= taper[nx - 1 - ix];
            if (iz >= nz - nb)
                p[ix][iz] *= taper[nz - 1 - iz];
        }
    }
#pragma endscop
}

/* Staggered grids: velocities between the pressures. */
void velocity_update(survey s, float **vx, float **vz, float **p, float **rho)
{
    int i, j;
    float sx = s.dt / s.dx, sz = s.dt / s.dz;
#pragma scop
    for (i = 0; i < s.nx - 1; i++) {
        for (j = 0; j < s.nz - 1; j++) {
            vx[i][j] -= sx * 2.0f / (rho[i][j] + rho[i + 1][j]) * (p[i + 1][j] - p[i][j]);
            vz[i][j] -= sz * 2.0f / (rho[i][j] + rho[i][j + 1]) * (p[i][j + 1] - p[i][j]);
        }
    }
#pragma endscop
}

void pressure_update(const survey *s, float **vx, float **vz, float **p, float **kappa)
{
    int i, j;
#pragma scop
    for (i = 1; i < s->nx; i++)
        for (j = 1; j < s->nz; j++)
            p[i][j] -= s->dt * kappa[i][j] * ((vx[i][j] - vx[i - 1][j]) / s->dx + (vz[i][j] - vz[i][j - 1]) / s->dz);
#pragma endscop
}

/* Second derivatives of eighth order, by a loop over the coefficients. */
void laplace_order8(float **out, float **in, const float coef[5], int nx, int nz, float inv_h2)
{
#pragma scop
    for (int ix = 4; ix < nx - 4; ix++) {
        for (int iz = 4; iz < nz - 4; iz++) {
            float acc = 2.0f * coef[0] * in[ix][iz];
            for (int m = 1; m <= 4; m++)
                acc += coef[m] * (in[ix + m][iz] + in[ix - m][iz] + in[ix][iz + m] + in[ix][iz - m]);
            out[ix][iz] = acc * inv_h2;
        }
    }
#pragma endscop
}

/* Where waves of source and receivers meet there is a reflector. */
void image_condition(float **image, float **illum, float ***src, float ***rec, int nt, int nx, int nz)
{
    int it, ix, iz;
#pragma scop
    for (it = nt - 1; it >= 0; it--)
        for (ix = 0; ix < nx; ix++) {
            float *s = src[it][ix], *r = rec[it][ix];
            for (iz = 0; iz < nz; iz++) {
                image[ix][iz] += s[iz] * r[iz];
                illum[ix][iz] += s[iz] * s[iz];
            }
        }
#pragma endscop
}

/* Mean over a square that is smaller at the edges. */
void smooth_model(float **out, float **in, int nx, int nz, int r)
{
    int ix, iz, kx, kz, count;
    float sum;
#pragma scop
    for (ix = 0; ix < nx; ix++)
        for (iz = 0; iz < nz; iz++) {
            sum = 0;
            count = 0;
            for (kx = ix - r; kx <= ix + r; kx++)
                for (kz = iz - r; kz <= iz + r; kz++)
                    if (kx >= 0 && kx < nx && kz >= 0 && kz < nz) {
                        sum += in[kx][kz];
                        count++;
                    }
            out[ix][iz] = sum / count;
        }
#pragma endscop
}

/* A model with nb more cells on each side; the outermost values go on. */
void extend_model(float **big, float **small, survey s)
{
    int ix, iz;
#pragma scop
    for (ix = 0; ix < s.nx + 2 * s.nb; ix++)
        for (iz = 0; iz < s.nz + 2 * s.nb; iz++)
            big[ix][iz] = small[clip_index(ix - s.nb, s.nx)][clip_index(iz - s.nb, s.nz)];
#pragma endscop
}

/* A shot on staggered grids: velocities, pressure, the source, step by step. */
void shot_march(survey s, int nt, float **vx, float **vz, float **p, float **kappa, const float *wavelet, int sx, int sz)
{
    int it, i, j;
    float cx = s.dt / s.dx, cz = s.dt / s.dz;
#pragma scop
    for (it = 0; it < nt; it++) {
        for (i = 0; i < s.nx - 1; i++)
            for (j = 0; j < s.nz - 1; j++) {
                vx[i][j] -= cx * (p[i + 1][j] - p[i][j]);
                vz[i][j] -= cz * (p[i][j + 1] - p[i][j]);
            }
        for (i = 1; i < s.nx - 1; i++)
            for (j = 1; j < s.nz - 1; j++)
                p[i][j] -= kappa[i][j] * (cx * (vx[i][j] - vx[i - 1][j]) + cz * (vz[i][j] - vz[i][j - 1]));
        p[sx][sz] += wavelet[it];
    }
#pragma endscop
}
