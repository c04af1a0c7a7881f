/* Heat equation on a torus of compile-time size N x N: neighbours through
 * (i + 1) % N and (i + N - 1) % N, global arrays.
 * sizes: small nt=4 | large nt=150
 * types: f64 f32
 */
#include "kernels.h"

#ifndef N
#define N 400
#endif

real heat_u[N][N];
static real heat_v[N][N];

void kernel_heat_periodic(int nt)
{
    int t, i, j;
#pragma scop
    for (t = 0; t < nt; t++) {
        for (i = 0; i < N; i++)
            for (j = 0; j < N; j++)
                heat_v[i][j] = heat_u[i][j]
                               + (real)0.2 * (heat_u[(i + 1) % N][j] + heat_u[(i + N - 1) % N][j]
                                              + heat_u[i][(j + 1) % N] + heat_u[i][(j + N - 1) % N]
                                              - 4 * heat_u[i][j]);
        for (i = 0; i < N; i++)
            for (j = 0; j < N; j++)
                heat_u[i][j] = heat_v[i][j];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 4);

    fill(&heat_u[0][0], (size_t)N * N, 1);
    TIMED(kernel_heat_periodic(nt));
    print_checksum("u", &heat_u[0][0], (size_t)N * N);
    print_checksum("v", &heat_v[0][0], (size_t)N * N);
    return 0;
}
#endif
