/* Waves in the ground: grids as pointers to rows, depth along the rows. */
#ifndef SEISMIC_H
#define SEISMIC_H

typedef struct {
    int nx, nz, nb;
    float dx, dz, dt;
} survey;

void wave_step(float **next, float **now, float **vel, int nx, int nz, float c);
void wave_march(float **p0, float **p1, float **v2, int nx, int nz, int nt, const float *wavelet, int sx, int sz);
void absorb_borders(float **p, const float *taper, int nx, int nz, int nb);
void velocity_update(survey s, float **vx, float **vz, float **p, float **rho);
void pressure_update(const survey *s, float **vx, float **vz, float **p, float **kappa);
void laplace_order8(float **out, float **in, const float coef[5], int nx, int nz, float inv_h2);
void image_condition(float **image, float **illum, float ***src, float ***rec, int nt, int nx, int nz);
void smooth_model(float **out, float **in, int nx, int nz, int r);
void extend_model(float **big, float **small, survey s);
void shot_march(survey s, int nt, float **vx, float **vz, float **p, float **kappa, const float *wavelet, int sx, int sz);

#endif
