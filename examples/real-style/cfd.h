/* Flow solvers: Fortran-like subscripts on flat arrays, sizes in globals. */
#ifndef CFD_H
#define CFD_H

#define FTNREF1D(i, i_lb) ((i) - (i_lb))
#define FTNREF2D(i, j, i_size, i_lb, j_lb) ((i_size) * (j - (j_lb)) + (i) - (i_lb))

#define PROBLEM_SIZE 24
#define LEVELS 4

extern int grid_points[3];
extern int dims[LEVELS][3];
extern double u[PROBLEM_SIZE][PROBLEM_SIZE][PROBLEM_SIZE][5];
extern double rhs[PROBLEM_SIZE][PROBLEM_SIZE][PROBLEM_SIZE][5];

enum face { FACE_LEFT, FACE_RIGHT, FACE_BOTTOM, FACE_TOP };

void ideal_gas(int *xmin, int *xmax, int *ymin, int *ymax, double *density, double *energy, double *pressure,
               double *soundspeed);
void flux_calc(int x_min, int x_max, int y_min, int y_max, double dt, double *xarea, double *xvel0, double *xvel1,
               double *vol_flux_x);
void halo_left_right(int x_min, int x_max, int y_min, int y_max, int depth, double *field);
void accelerate(int x_min, int x_max, int y_min, int y_max, double dt, double *density0, double *volume,
                double *pressure, double *xarea, double *xvel0, double *xvel1);
void compute_rhs_x(double dx1tx1, double dssp);
void add(void);
void relax_level(int l, double *v, const double *r, double omega);
void line_solve(int n_lines, int n, const double *lower, double *diag, const double *upper, double *f);
void block_lu(int cells, double (*a)[5][5], double (*b)[5]);
void plate_step(int rows, int cols, const float *temp, const float *power, float *result, float step, float rx, float ry,
                float rz, float around);

#endif
