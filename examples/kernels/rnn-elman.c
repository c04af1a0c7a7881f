/* Elman recurrent layer over time with tanh: h[t] = tanh(x[t] W + h[t-1] U).
 * sizes: small nt=20 ni=10 nh=14 | large nt=1000 ni=200 nh=200
 * types: f64 f32
 */
#include "kernels.h"

void kernel_rnn_elman(int nt, int ni, int nh, const real x[nt][ni], const real W[ni][nh],
                      const real U[nh][nh], real h[nt + 1][nh])
{
    int t, i, j;
#pragma scop
    for (t = 1; t <= nt; t++)
        for (j = 0; j < nh; j++) {
            h[t][j] = 0;
            for (i = 0; i < ni; i++)
                h[t][j] += x[t - 1][i] * W[i][j];
            for (i = 0; i < nh; i++)
                h[t][j] += h[t - 1][i] * U[i][j];
            h[t][j] = (real)tanh((double)h[t][j]);
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 20);
    int ni = size_arg(argc, argv, 2, 10);
    int nh = size_arg(argc, argv, 3, 14);
    size_t nx = (size_t)nt * ni, nW = (size_t)ni * nh, nU = (size_t)nh * nh, nH = ((size_t)nt + 1) * nh;
    real *x = make_reals(nx), *W = make_reals(nW), *U = make_reals(nU), *h = make_reals(nH);

    fill(x, nx, 1);
    for (size_t i = 0; i < nW; i++)
        W[i] = (sample(2, i) - 1) / (real)(ni + 1);
    for (size_t i = 0; i < nU; i++)
        U[i] = (sample(3, i) - 1) / (real)(nh + 1);
    TIMED(kernel_rnn_elman(nt, ni, nh, (void *)x, (void *)W, (void *)U, (void *)h));
    print_checksum("h", h, nH);
    free(x);
    free(W);
    free(U);
    free(h);
    return 0;
}
#endif
