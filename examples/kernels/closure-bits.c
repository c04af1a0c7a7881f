/* Warshall closure for 64 graphs at once, one bit of a uint64_t each:
 * |= and & on 64-bit unsigned elements.
 * sizes: small n=48 | large n=800
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_closure_bits(int n, uint64_t R[n][n])
{
    int i, j, k;
#pragma scop
    for (k = 0; k < n; k++)
        for (i = 0; i < n; i++)
            for (j = 0; j < n; j++)
                R[i][j] |= R[i][k] & R[k][j];
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 48);
    size_t nn = (size_t)n * n;
    uint64_t *R = MAKE(uint64_t, nn);

    FILL_WITH(R, nn, 1, (uint64_t)1 << (u % 64));
    TIMED(kernel_closure_bits(n, (void *)R));
    CHECKSUM_OF("R", R, nn);
    free(R);
    return 0;
}
#endif
