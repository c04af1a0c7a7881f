/* Lattice Boltzmann D2Q9: collide (BGK) from f into g, then stream g back to
 * f by nine explicit shifts.  Populations are arrays of nine per cell.
 * sizes: small nt=5 n=24 m=28 | large nt=10 n=600 m=600
 * types: f64 f32
 */
#include "kernels.h"

typedef real cell[9];

#define FEQ(w, cu) ((real)(w) * rho * (1 + 3 * (cu) + (real)4.5 * (cu) * (cu) - (real)1.5 * uu))

void kernel_lbm_d2q9(int nt, int n, int m, real omega, cell f[n][m], cell g[n][m])
{
    int t, i, j, q;
#pragma scop
    for (t = 0; t < nt; t++) {
        for (i = 0; i < n; i++)
            for (j = 0; j < m; j++) {
                real rho = 0;
                for (q = 0; q < 9; q++)
                    rho += f[i][j][q];
                real ux = (f[i][j][1] + f[i][j][5] + f[i][j][8] - f[i][j][3] - f[i][j][6] - f[i][j][7]) / rho;
                real uy = (f[i][j][2] + f[i][j][5] + f[i][j][6] - f[i][j][4] - f[i][j][7] - f[i][j][8]) / rho;
                real uu = ux * ux + uy * uy;
                g[i][j][0] = f[i][j][0] + omega * (FEQ(4.0 / 9, (real)0) - f[i][j][0]);
                g[i][j][1] = f[i][j][1] + omega * (FEQ(1.0 / 9, ux) - f[i][j][1]);
                g[i][j][2] = f[i][j][2] + omega * (FEQ(1.0 / 9, uy) - f[i][j][2]);
                g[i][j][3] = f[i][j][3] + omega * (FEQ(1.0 / 9, -ux) - f[i][j][3]);
                g[i][j][4] = f[i][j][4] + omega * (FEQ(1.0 / 9, -uy) - f[i][j][4]);
                g[i][j][5] = f[i][j][5] + omega * (FEQ(1.0 / 36, ux + uy) - f[i][j][5]);
                g[i][j][6] = f[i][j][6] + omega * (FEQ(1.0 / 36, uy - ux) - f[i][j][6]);
                g[i][j][7] = f[i][j][7] + omega * (FEQ(1.0 / 36, -ux - uy) - f[i][j][7]);
                g[i][j][8] = f[i][j][8] + omega * (FEQ(1.0 / 36, ux - uy) - f[i][j][8]);
            }
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++) {
                f[i][j][0] = g[i][j][0];
                f[i][j][1] = g[i][j - 1][1];
                f[i][j][2] = g[i - 1][j][2];
                f[i][j][3] = g[i][j + 1][3];
                f[i][j][4] = g[i + 1][j][4];
                f[i][j][5] = g[i - 1][j - 1][5];
                f[i][j][6] = g[i - 1][j + 1][6];
                f[i][j][7] = g[i + 1][j + 1][7];
                f[i][j][8] = g[i + 1][j - 1][8];
            }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 5);
    int n = size_arg(argc, argv, 2, 24);
    int m = size_arg(argc, argv, 3, 28);
    static const double w[9] = {4.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9,
                                1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};
    size_t size = (size_t)n * m * 9;
    real *f = make_reals(size), *g = make_reals(size);

    for (size_t i = 0; i < size; i++)
        f[i] = (real)(w[i % 9] * (1.0 + 0.05 * ((double)sample(1, i) - 1.0)));
    TIMED(kernel_lbm_d2q9(nt, n, m, (real)0.8, (void *)f, (void *)g));
    print_checksum("f", f, size);
    print_checksum("g", g, size);
    free(f);
    free(g);
    return 0;
}
#endif
