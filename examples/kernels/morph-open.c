/* Morphological opening (erosion, then dilation) with a 3x3 square on 8-bit
 * pixels; minimum and maximum as ?: macros on data.
 * sizes: small h=44 w=52 | large h=8000 w=8000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_morph_open(int h, int w, uint8_t a[h][w], uint8_t e[h][w], uint8_t d[h][w])
{
    int i, j, k, l;
#pragma scop
    for (i = 1; i < h - 1; i++)
        for (j = 1; j < w - 1; j++) {
            e[i][j] = 255;
            for (k = i - 1; k <= i + 1; k++)
                for (l = j - 1; l <= j + 1; l++)
                    e[i][j] = MIN(e[i][j], a[k][l]);
        }
    for (i = 2; i < h - 2; i++)
        for (j = 2; j < w - 2; j++) {
            d[i][j] = 0;
            for (k = i - 1; k <= i + 1; k++)
                for (l = j - 1; l <= j + 1; l++)
                    d[i][j] = MAX(d[i][j], e[k][l]);
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 44);
    int w = size_arg(argc, argv, 2, 52);
    size_t n = (size_t)h * w;
    uint8_t *a = MAKE(uint8_t, n);
    uint8_t *e = MAKE(uint8_t, n);
    uint8_t *d = MAKE(uint8_t, n);
    FILL_WITH(a, n, 9, (uint8_t)u);
    TIMED(kernel_morph_open(h, w, (void *)a, (void *)e, (void *)d));
    CHECKSUM_OF("e", e, n);
    CHECKSUM_OF("d", d, n);
    free(a);
    free(e);
    free(d);
    return 0;
}
#endif
