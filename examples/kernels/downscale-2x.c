/* Bilinear downscale by two: each output pixel is the rounded mean of a 2x2
 * block of 16-bit pixels.  The sizes are those of the output.
 * sizes: small h=30 w=40 | large h=5000 w=5000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_downscale_2x(unsigned h, unsigned w,
                         const uint16_t src[2 * h][2 * w], uint16_t dst[h][w])
{
    unsigned i, j;
#pragma scop
    for (i = 0; i < h; i++)
        for (j = 0; j < w; j++)
            dst[i][j] = (uint16_t)(((uint32_t)src[2 * i][2 * j] + src[2 * i][2 * j + 1]
                                    + src[2 * i + 1][2 * j] + src[2 * i + 1][2 * j + 1] + 2u) >> 2);
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    unsigned h = size_arg(argc, argv, 1, 30);
    unsigned w = size_arg(argc, argv, 2, 40);
    size_t n = (size_t)h * w;
    uint16_t *src = MAKE(uint16_t, 4 * n);
    uint16_t *dst = MAKE(uint16_t, n);
    FILL_WITH(src, 4 * n, 5, (uint16_t)u);
    TIMED(kernel_downscale_2x(h, w, (void *)src, (void *)dst));
    CHECKSUM_OF("dst", dst, n);
    free(src);
    free(dst);
    return 0;
}
#endif
