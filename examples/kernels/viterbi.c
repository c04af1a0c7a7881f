/* Viterbi scores of a hidden Markov model in the log domain: max-plus
 * matrix-vector product per time step plus the emission score.
 * sizes: small nt=40 ns=16 | large nt=2000 ns=200
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_viterbi(int nt, int ns, real emit[nt][ns], real trans[ns][ns], real score[nt][ns])
{
    int t, s, p;
#pragma scop
    for (t = 0; t < nt; t++)
        for (s = 0; s < ns; s++) {
            if (t == 0)
                score[t][s] = emit[t][s];
            else {
                score[t][s] = score[t - 1][0] + trans[0][s];
                for (p = 1; p < ns; p++)
                    score[t][s] = score[t][s] > score[t - 1][p] + trans[p][s]
                                      ? score[t][s]
                                      : score[t - 1][p] + trans[p][s];
                score[t][s] += emit[t][s];
            }
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 40);
    int ns = size_arg(argc, argv, 2, 16);
    size_t nts = (size_t)nt * ns, nss = (size_t)ns * ns;
    real *emit = make_reals(nts), *trans = make_reals(nss), *score = make_reals(nts);

    fill(emit, nts, 1);
    fill(trans, nss, 2);
    TIMED(kernel_viterbi(nt, ns, (void *)emit, (void *)trans, (void *)score));
    print_checksum("score", score, nts);
    free(emit);
    free(trans);
    free(score);
    return 0;
}
#endif
