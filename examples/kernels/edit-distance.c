/* Levenshtein distance with a full uint16_t table; the minimum of three is a
 * temporary inside the region.
 * sizes: small n=60 m=75 | large n=6000 m=6000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_edit_distance(int n, int m, const unsigned char s[n], const unsigned char t[m],
                          uint16_t D[n + 1][m + 1])
{
#pragma scop
    for (int i = 0; i <= n; i++)
        D[i][0] = (uint16_t)i;
    for (int j = 1; j < m + 1; j++)
        D[0][j] = (uint16_t)j;
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= m; ++j) {
            int best = D[i - 1][j - 1] + (s[i - 1] != t[j - 1]);
            best = MIN(best, D[i - 1][j] + 1);
            best = MIN(best, D[i][j - 1] + 1);
            D[i][j] = (uint16_t)best;
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 60);
    int m = size_arg(argc, argv, 2, 75);
    size_t nD = ((size_t)n + 1) * (m + 1);
    unsigned char *s = MAKE(unsigned char, n), *t = MAKE(unsigned char, m);
    uint16_t *D = MAKE(uint16_t, nD);

    FILL_WITH(s, n, 1, (unsigned char)(u % 5));
    FILL_WITH(t, m, 2, (unsigned char)(u % 5));
    TIMED(kernel_edit_distance(n, m, s, t, (void *)D));
    CHECKSUM_OF("D", D, nD);
    free(s);
    free(t);
    free(D);
    return 0;
}
#endif
