/* Lattice codes: cells as structs in one flat array, lattices that close on themselves. */
#ifndef LATTICE_H
#define LATTICE_H

#define NSPEEDS 9

typedef struct {
    float speeds[NSPEEDS];
} t_speed;

typedef struct {
    int nx, ny;
    int max_iters;
    float density, accel, omega;
} t_param;

typedef struct {
    double x, y;
} vec2;

int lattice_accelerate(const t_param params, t_speed *cells, int *obstacles);
int lattice_propagate(const t_param params, t_speed *cells, t_speed *tmp_cells);
int lattice_rebound(const t_param params, t_speed *cells, t_speed *tmp_cells, int *obstacles);
int lattice_collide(const t_param params, t_speed *cells, t_speed *tmp_cells, int *obstacles);
void lattice_density(const t_param *params, const t_speed *cells, float *rho);
void lattice_heat_step(int nx, int ny, const double *now, double *next, double k);
void lattice_spin_energy(int n, const signed char *spin, int *energy);
void lattice_life(int rows, int cols, const unsigned char *old_board, unsigned char *board);
void lattice_springs(int n, const vec2 *at, vec2 *force, double stiffness);

#endif
