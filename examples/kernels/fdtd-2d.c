/* fdtd-2d: finite-difference time domain (Yee) scheme in the plane; per step
 *     ey_0j := source_t,                ey_ij -= (hz_ij - hz_i-1,j) / 2  (i > 0),
 *     ex_ij -= (hz_ij - hz_i,j-1) / 2   (j > 0),
 *     hz_ij -= 0.7 (ex_i,j+1 - ex_ij + ey_i+1,j - ey_ij)  (i < nx-1, j < ny-1).
 * sizes: small tmax=40 nx=60 ny=80 | large tmax=500 nx=1000 ny=1200
 * types: f64 f32
 */
#include "kernels.h"

void kernel_fdtd_2d(int tmax, int nx, int ny, real ex[nx][ny], real ey[nx][ny],
                    real hz[nx][ny], real source[tmax])
{
    int t, i, j;
    const real half = (real)0.5, courant = (real)0.7;

#pragma scop
    for (t = 0; t < tmax; t++) {
        if (nx > 0)
            for (j = 0; j < ny; j++)
                ey[0][j] = source[t];
        for (i = 1; i < nx; i++)
            for (j = 0; j < ny; j++)
                ey[i][j] = ey[i][j] - half * (hz[i][j] - hz[i - 1][j]);
        for (i = 0; i < nx; i++)
            for (j = 1; j < ny; j++)
                ex[i][j] = ex[i][j] - half * (hz[i][j] - hz[i][j - 1]);
        for (i = 0; i < nx - 1; i++)
            for (j = 0; j < ny - 1; j++)
                hz[i][j] = hz[i][j] - courant * (ex[i][j + 1] - ex[i][j]
                                                 + ey[i + 1][j] - ey[i][j]);
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int tmax = (int)size_arg(argc, argv, 1, 40);
    int nx = (int)size_arg(argc, argv, 2, 60);
    int ny = (int)size_arg(argc, argv, 3, 80);
    size_t n = (size_t)nx * ny;
    real *ex = make_reals(n), *ey = make_reals(n), *hz = make_reals(n);
    real *source = make_reals(tmax);

    fill(ex, n, 1);
    fill(ey, n, 2);
    fill(hz, n, 3);
    fill(source, tmax, 4);
    TIMED(kernel_fdtd_2d(tmax, nx, ny, (void *)ex, (void *)ey, (void *)hz, source));
    print_checksum("ex", ex, n);
    print_checksum("ey", ey, n);
    print_checksum("hz", hz, n);
    free(ex);
    free(ey);
    free(hz);
    free(source);
    return 0;
}
#endif
