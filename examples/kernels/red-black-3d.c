/* Red-black relaxation in three dimensions, the colour chosen by a modulo
 * condition inside a loop over colours.
 * sizes: small nt=4 n=16 | large nt=8 n=150
 * types: f64 f32
 */
#include "kernels.h"

void kernel_red_black_3d(int nt, int n, real u[n][n][n])
{
#pragma scop
    for (int t = 0; t < nt; t++)
        for (int color = 0; color < 2; color++)
            for (int i = 1; i < n - 1; i++)
                for (int j = 1; j < n - 1; j++)
                    for (int k = 1; k < n - 1; k++)
                        if ((i + j + k) % 2 == color)
                            u[i][j][k] = (u[i - 1][j][k] + u[i + 1][j][k] + u[i][j - 1][k]
                                          + u[i][j + 1][k] + u[i][j][k - 1] + u[i][j][k + 1]) / 6;
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 4);
    int n = size_arg(argc, argv, 2, 16);
    size_t size = (size_t)n * n * n;
    real *u = make_reals(size);

    fill(u, size, 1);
    TIMED(kernel_red_black_3d(nt, n, (void *)u));
    print_checksum("u", u, size);
    free(u);
    return 0;
}
#endif
