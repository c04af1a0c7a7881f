/* Longest common subsequence of two strings of bytes: table of int, the
 * comparison of letters is data, so a ?: decides.
 * sizes: small n=70 m=80 | large n=5000 m=6000
 * types: fixed
 */
#include "kernels.h"

void kernel_lcs(int n, int m, const char a[n], const char b[m], int L[n + 1][m + 1])
{
    int i, j;
#pragma scop
    for (i = 0; i <= n; i++)
        L[i][0] = 0;
    for (j = 0; j <= m; j++)
        L[0][j] = 0;
    for (i = 1; i <= n; i++)
        for (j = 1; j <= m; j++)
            L[i][j] = a[i - 1] == b[j - 1] ? L[i - 1][j - 1] + 1
                                           : MAX(L[i - 1][j], L[i][j - 1]);
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 70);
    int m = size_arg(argc, argv, 2, 80);
    size_t nL = ((size_t)n + 1) * (m + 1);
    char *a = MAKE(char, n), *b = MAKE(char, m);
    int *L = MAKE(int, nL);

    FILL_WITH(a, n, 1, (char)('a' + u % 4));
    FILL_WITH(b, m, 2, (char)('a' + u % 4));
    TIMED(kernel_lcs(n, m, a, b, (void *)L));
    CHECKSUM_OF("L", L, nL);
    free(a);
    free(b);
    free(L);
    return 0;
}
#endif
