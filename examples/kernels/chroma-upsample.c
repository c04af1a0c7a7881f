/* YUV 4:2:0 to 4:4:4 by replication, plus the red channel: subscripts divide
 * the iterators by two.  Odd sizes are fine: chroma has (h+1)/2 x (w+1)/2.
 * sizes: small h=45 w=63 | large h=5000 w=5000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

#define CLAMP8(v) ((v) < 0 ? 0 : (v) > 255 ? 255 : (v))

void kernel_chroma_upsample(int h, int w, uint8_t y[h][w],
                            uint8_t cr[(h + 1) / 2][(w + 1) / 2],
                            uint8_t full[h][w], uint8_t red[h][w])
{
    int i, j;
#pragma scop
    for (i = 0; i <= h - 1; i++)
        for (j = 0; j <= w - 1; j++) {
            full[i][j] = cr[i / 2][j / 2];
            red[i][j] = (uint8_t)CLAMP8(y[i][j] + (359 * (cr[i / 2][j / 2] - 128)) / 256);
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 45);
    int w = size_arg(argc, argv, 2, 63);
    size_t n = (size_t)h * w;
    size_t nc = (size_t)((h + 1) / 2) * ((w + 1) / 2);
    uint8_t *y = MAKE(uint8_t, n);
    uint8_t *cr = MAKE(uint8_t, nc);
    uint8_t *full = MAKE(uint8_t, n);
    uint8_t *red = MAKE(uint8_t, n);
    FILL_WITH(y, n, 1, (uint8_t)u);
    FILL_WITH(cr, nc, 2, (uint8_t)u);
    TIMED(kernel_chroma_upsample(h, w, (void *)y, (void *)cr, (void *)full, (void *)red));
    CHECKSUM_OF("full", full, n);
    CHECKSUM_OF("red", red, n);
    free(y);
    free(cr);
    free(full);
    free(red);
    return 0;
}
#endif
