/* Maxwell's equations on a 3-D Yee grid, six field arrays, nt time steps.
 * sizes: small nt=5 nx=14 ny=13 nz=12 | large nt=20 nx=100 ny=100 nz=100
 * types: f64 f32
 */
#include "kernels.h"

void kernel_fdtd_3d(int nt, int nx, int ny, int nz, real c,
                    real ex[nx][ny][nz], real ey[nx][ny][nz], real ez[nx][ny][nz],
                    real hx[nx][ny][nz], real hy[nx][ny][nz], real hz[nx][ny][nz])
{
    int t, i, j, k;
#pragma scop
    for (t = 0; t < nt; t++) {
        for (i = 1; i < nx; i++)
            for (j = 1; j < ny; j++)
                for (k = 1; k < nz; k++) {
                    ex[i][j][k] += c * (hz[i][j][k] - hz[i][j - 1][k] - hy[i][j][k] + hy[i][j][k - 1]);
                    ey[i][j][k] += c * (hx[i][j][k] - hx[i][j][k - 1] - hz[i][j][k] + hz[i - 1][j][k]);
                    ez[i][j][k] += c * (hy[i][j][k] - hy[i - 1][j][k] - hx[i][j][k] + hx[i][j - 1][k]);
                }
        for (i = 0; i < nx - 1; i++)
            for (j = 0; j < ny - 1; j++)
                for (k = 0; k < nz - 1; k++) {
                    hx[i][j][k] -= c * (ez[i][j + 1][k] - ez[i][j][k] - ey[i][j][k + 1] + ey[i][j][k]);
                    hy[i][j][k] -= c * (ex[i][j][k + 1] - ex[i][j][k] - ez[i + 1][j][k] + ez[i][j][k]);
                    hz[i][j][k] -= c * (ey[i + 1][j][k] - ey[i][j][k] - ex[i][j + 1][k] + ex[i][j][k]);
                }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 5);
    int nx = size_arg(argc, argv, 2, 14);
    int ny = size_arg(argc, argv, 3, 13);
    int nz = size_arg(argc, argv, 4, 12);
    static const char *name[6] = {"ex", "ey", "ez", "hx", "hy", "hz"};
    size_t n = (size_t)nx * ny * nz;
    real *f[6];

    for (int i = 0; i < 6; i++) {
        f[i] = make_reals(n);
        fill(f[i], n, i + 1);
    }
    TIMED(kernel_fdtd_3d(nt, nx, ny, nz, (real)0.25, (void *)f[0], (void *)f[1], (void *)f[2],
                         (void *)f[3], (void *)f[4], (void *)f[5]));
    for (int i = 0; i < 6; i++) {
        print_checksum(name[i], f[i], n);
        free(f[i]);
    }
    return 0;
}
#endif
