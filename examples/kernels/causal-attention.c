/* Causal self-attention for one head: triangular scores, row softmax with the
 * diagonal score as reference, weighted values.
 * sizes: small n=30 d=8 | large n=1500 d=64
 * types: f64 f32
 */
#include "kernels.h"

void kernel_causal_attention(int n, int d, real scale, const real Q[n][d], const real K[n][d],
                             const real V[n][d], real P[n][n], real sum[n], real out[n][d])
{
    int i, j, k;
#pragma scop
    for (i = 0; i < n; i++) {
        for (j = 0; j <= i; j++) {
            P[i][j] = 0;
            for (k = 0; k < d; k++)
                P[i][j] += Q[i][k] * K[j][k];
            P[i][j] *= scale;
        }
        sum[i] = 0;
        for (j = 0; j <= i; j++)
            if (j < i) {
                P[i][j] = EXP(P[i][j] - P[i][i]);
                sum[i] += P[i][j];
            }
        P[i][i] = 1;
        sum[i] += 1;
        for (k = 0; k < d; k++)
            out[i][k] = 0;
        for (j = 0; j <= i; j++)
            for (k = 0; k < d; k++)
                out[i][k] += P[i][j] / sum[i] * V[j][k];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 30);
    int d = size_arg(argc, argv, 2, 8);
    size_t nd = (size_t)n * d, nn = (size_t)n * n;
    real *Q = make_reals(nd), *K = make_reals(nd), *V = make_reals(nd);
    real *P = make_reals(nn), *sum = make_reals(n), *out = make_reals(nd);

    fill(Q, nd, 1);
    fill(K, nd, 2);
    fill(V, nd, 3);
    TIMED(kernel_causal_attention(n, d, (real)0.125, (void *)Q, (void *)K, (void *)V, (void *)P, sum, (void *)out));
    print_checksum("P", P, nn);
    print_checksum("sum", sum, n);
    print_checksum("out", out, nd);
    free(Q);
    free(K);
    free(V);
    free(P);
    free(sum);
    free(out);
    return 0;
}
#endif
