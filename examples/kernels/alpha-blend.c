/* Blend one RGBA image over another, channel by channel, with 8-bit data in a
 * rank-3 array whose last extent is the constant 4.
 * sizes: small rows=32 cols=36 | large rows=7000 cols=6000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

typedef uint8_t rgba[4];

void kernel_alpha_blend(int rows, int cols, rgba (*restrict dst)[cols],
                        rgba (*restrict const src)[cols])
{
#pragma scop
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            const uint16_t a = src[i][j][3];
            for (int c = 0; c < 3; c++)
                dst[i][j][c] = (uint8_t)((src[i][j][c] * a + dst[i][j][c] * (255 - a) + 127) / 255);
            dst[i][j][3] = 255;
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int rows = size_arg(argc, argv, 1, 32);
    int cols = size_arg(argc, argv, 2, 36);
    size_t n = (size_t)rows * cols * 4;
    uint8_t *dst = MAKE(uint8_t, n);
    uint8_t *src = MAKE(uint8_t, n);
    FILL_WITH(dst, n, 1, (uint8_t)u);
    FILL_WITH(src, n, 2, (uint8_t)u);
    TIMED(kernel_alpha_blend(rows, cols, (void *)dst, (void *)src));
    CHECKSUM_OF("dst", dst, n);
    free(dst);
    free(src);
    return 0;
}
#endif
