/* Multigrid transfers between a fine (2n+1)^2 and a coarse (n+1)^2 grid:
 * residual, full-weighting restriction, bilinear prolongation with correction.
 * sizes: small n=20 | large n=1500
 * types: f64 f32
 */
#include "kernels.h"

void kernel_multigrid_transfer(int n, real u[2 * n + 1][2 * n + 1], real f[2 * n + 1][2 * n + 1],
                               real r[2 * n + 1][2 * n + 1], real c[n + 1][n + 1])
{
    int i, j;
#pragma scop
    for (i = 1; i < 2 * n; i++)
        for (j = 1; j < 2 * n; j++)
            r[i][j] = f[i][j] - 4 * u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
    for (i = 1; i < n; i++)
        for (j = 1; j < n; j++)
            c[i][j] = (4 * r[2 * i][2 * j]
                       + 2 * (r[2 * i - 1][2 * j] + r[2 * i + 1][2 * j] + r[2 * i][2 * j - 1] + r[2 * i][2 * j + 1])
                       + r[2 * i - 1][2 * j - 1] + r[2 * i - 1][2 * j + 1]
                       + r[2 * i + 1][2 * j - 1] + r[2 * i + 1][2 * j + 1]) / 16;
    for (i = 1; i < 2 * n; i++)
        for (j = 1; j < 2 * n; j++) {
            if (i % 2 == 0 && j % 2 == 0)
                u[i][j] += c[i / 2][j / 2];
            else if (i % 2 == 0)
                u[i][j] += (c[i / 2][j / 2] + c[i / 2][j / 2 + 1]) / 2;
            else if (j % 2 == 0)
                u[i][j] += (c[i / 2][j / 2] + c[i / 2 + 1][j / 2]) / 2;
            else
                u[i][j] += (c[i / 2][j / 2] + c[i / 2][j / 2 + 1]
                            + c[i / 2 + 1][j / 2] + c[i / 2 + 1][j / 2 + 1]) / 4;
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 20);
    size_t fine = (2 * (size_t)n + 1) * (2 * (size_t)n + 1), coarse = ((size_t)n + 1) * (n + 1);
    real *u = make_reals(fine), *f = make_reals(fine), *r = make_reals(fine), *c = make_reals(coarse);

    fill(u, fine, 1);
    fill(f, fine, 2);
    TIMED(kernel_multigrid_transfer(n, (void *)u, (void *)f, (void *)r, (void *)c));
    print_checksum("r", r, fine);
    print_checksum("c", c, coarse);
    print_checksum("u", u, fine);
    free(u);
    free(f);
    free(r);
    free(c);
    return 0;
}
#endif
