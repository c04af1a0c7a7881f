/* Merge two int16_t channels into one stereo stream and a third array that
 * picks by parity: % and / by two in conditions and subscripts.
 * sizes: small n=301 | large n=20000000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_interleave(int n, const int16_t left[(n + 1) / 2], const int16_t right[(n + 1) / 2],
                       int16_t lr[n], int16_t swapped[n])
{
    int i;
#pragma scop
    for (i = 0; i < n; i++) {
        if (i % 2 == 0)
            lr[i] = left[i / 2];
        else
            lr[i] = right[i / 2];
    }
    for (i = 0; i < n; i++)
        swapped[i] = (i + 1) % 2 == 0 ? left[i / 2] : right[i / 2];
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 301);
    size_t half = ((size_t)n + 1) / 2;
    int16_t *left = MAKE(int16_t, half), *right = MAKE(int16_t, half);
    int16_t *lr = MAKE(int16_t, n), *swapped = MAKE(int16_t, n);

    FILL_WITH(left, half, 1, (int16_t)((int)(u % 65536) - 32768));
    FILL_WITH(right, half, 2, (int16_t)((int)(u % 65536) - 32768));
    TIMED(kernel_interleave(n, left, right, lr, swapped));
    CHECKSUM_OF("lr", lr, n);
    CHECKSUM_OF("swapped", swapped, n);
    free(left);
    free(right);
    free(lr);
    free(swapped);
    return 0;
}
#endif
