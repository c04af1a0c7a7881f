/* adi: alternating-direction implicit (Peaceman-Rachford) time stepping of
 *     du/dt = 2 u_yy + u_xx   on the unit square, boundary values 1,
 * n x n points, tsteps steps to time 1.  Each half step solves tridiagonal
 * systems by elimination (p, q) and back substitution, first along the row
 * index of u (result in v), then along the column index.
 * sizes: small tsteps=40 n=60 | large tsteps=500 n=1000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_adi(int tsteps, int n, real u[n][n], real v[n][n], real p[n][n], real q[n][n])
{
    const real square = tsteps > 0 ? (real)n * (real)n / (real)tsteps : (real)0;

#pragma scop
    real ry = 2 * square;  /* dt/dy^2 times the coefficient of u_yy */
    real rx = square;      /* dt/dx^2 times the coefficient of u_xx */
    real a = -ry / 2;
    real b = 1 + ry;
    real d = -rx / 2;
    real e = 1 + rx;

    for (int t = 1; t <= tsteps; t++) {
        for (int i = 1; i < n - 1; i++) {
            v[0][i] = 1;
            p[i][0] = 0;
            q[i][0] = v[0][i];
            for (int j = 1; j < n - 1; j++) {
                p[i][j] = -a / (a * p[i][j - 1] + b);
                q[i][j] = (-d * u[j][i - 1] + (1 + 2 * d) * u[j][i] - d * u[j][i + 1]
                           - a * q[i][j - 1]) / (a * p[i][j - 1] + b);
            }
            v[n - 1][i] = 1;
            for (int j = n - 2; j >= 1; j--)
                v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
        }
        for (int i = 1; i < n - 1; i++) {
            u[i][0] = 1;
            p[i][0] = 0;
            q[i][0] = u[i][0];
            for (int j = 1; j < n - 1; j++) {
                p[i][j] = -d / (d * p[i][j - 1] + e);
                q[i][j] = (-a * v[i - 1][j] + (1 + 2 * a) * v[i][j] - a * v[i + 1][j]
                           - d * q[i][j - 1]) / (d * p[i][j - 1] + e);
            }
            u[i][n - 1] = 1;
            for (int j = n - 2; j >= 1; j--)
                u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int tsteps = (int)size_arg(argc, argv, 1, 40);
    int n = (int)size_arg(argc, argv, 2, 60);
    size_t nn = (size_t)n * n;
    real *u = make_reals(nn), *v = make_reals(nn), *p = make_reals(nn), *q = make_reals(nn);

    fill(u, nn, 1);
    TIMED(kernel_adi(tsteps, n, (void *)u, (void *)v, (void *)p, (void *)q));
    print_checksum("u", u, nn);
    free(u);
    free(v);
    free(p);
    free(q);
    return 0;
}
#endif
