/* Global alignment score (match +2, mismatch -1, gap -2), short table, with
 * the reverse (suffix) table filled by loops that count down.
 * sizes: small n=60 m=64 | large n=4000 m=4000
 * types: fixed
 */
#include "kernels.h"

#define GAP (-2)
#define SCORE(x, y) ((x) == (y) ? 2 : -1)
#define MAX3(a, b, c) MAX(MAX(a, b), c)

void kernel_needleman_wunsch(int n, int m, const signed char x[n], const signed char y[m],
                             short F[n + 1][m + 1], short R[n + 1][m + 1])
{
    int i, j;
#pragma scop
    for (i = 0; i <= n; i++)
        for (j = 0; j <= m; j++) {
            if (i == 0)
                F[i][j] = (short)(GAP * j);
            else if (j == 0)
                F[i][j] = (short)(GAP * i);
            else
                F[i][j] = (short)MAX3(F[i - 1][j - 1] + SCORE(x[i - 1], y[j - 1]),
                                      F[i - 1][j] + GAP, F[i][j - 1] + GAP);
        }
    for (i = n; i >= 0; i--)
        for (j = m; j >= 0; j--) {
            if (i == n)
                R[i][j] = (short)(GAP * (m - j));
            else if (j == m)
                R[i][j] = (short)(GAP * (n - i));
            else
                R[i][j] = (short)MAX3(R[i + 1][j + 1] + SCORE(x[i], y[j]),
                                      R[i + 1][j] + GAP, R[i][j + 1] + GAP);
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 60);
    int m = size_arg(argc, argv, 2, 64);
    size_t nF = ((size_t)n + 1) * (m + 1);
    signed char *x = MAKE(signed char, n), *y = MAKE(signed char, m);
    short *F = MAKE(short, nF), *R = MAKE(short, nF);

    FILL_WITH(x, n, 1, (signed char)(u % 4));
    FILL_WITH(y, m, 2, (signed char)(u % 4));
    TIMED(kernel_needleman_wunsch(n, m, x, y, (void *)F, (void *)R));
    CHECKSUM_OF("F", F, nF);
    CHECKSUM_OF("R", R, nF);
    free(x);
    free(y);
    free(F);
    free(R);
    return 0;
}
#endif
