/* Binomial coefficients modulo 2^64 and modulo 65521, row by row: a
 * triangular recurrence on uint64_t and uint16_t.
 * sizes: small n=80 | large n=4000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_pascal_triangle(int n, uint64_t C[n][n], uint16_t P[n][n])
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i++) {
        C[i][0] = 1;
        P[i][0] = 1;
        for (j = 1; j < i; j++) {
            C[i][j] = C[i - 1][j - 1] + C[i - 1][j];
            P[i][j] = (uint16_t)(((uint32_t)P[i - 1][j - 1] + P[i - 1][j]) % 65521u);
        }
        if (i > 0) {
            C[i][i] = 1;
            P[i][i] = 1;
        }
    }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 80);
    size_t nn = (size_t)n * n;
    uint64_t *C = MAKE(uint64_t, nn);
    uint16_t *P = MAKE(uint16_t, nn);

    TIMED(kernel_pascal_triangle(n, (void *)C, (void *)P));
    CHECKSUM_OF("C", C, nn);
    CHECKSUM_OF("P", P, nn);
    free(C);
    free(P);
    return 0;
}
#endif
