/* Longest palindromic subsequence of every substring: rows upwards, int16_t.
 * sizes: small n=77 | large n=6000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_palindrome(int n, const uint8_t s[n], int16_t P[n][n])
{
    int i, j;
#pragma scop
    for (i = n - 1; i >= 0; i--) {
        P[i][i] = 1;
        for (j = i + 1; j < n; j++)
            if (j == i + 1)
                P[i][j] = s[i] == s[j] ? 2 : 1;
            else
                P[i][j] = s[i] == s[j] ? (int16_t)(P[i + 1][j - 1] + 2)
                                       : (int16_t)MAX(P[i + 1][j], P[i][j - 1]);
    }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 77);
    size_t nn = (size_t)n * n;
    uint8_t *s = MAKE(uint8_t, n);
    int16_t *P = MAKE(int16_t, nn);

    FILL_WITH(s, n, 1, (uint8_t)(u % 6));
    TIMED(kernel_palindrome(n, s, (void *)P));
    CHECKSUM_OF("P", P, nn);
    free(s);
    free(P);
    return 0;
}
#endif
