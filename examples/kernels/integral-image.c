/* Summed-area table (inclusive) of an 8-bit image in uint32_t: first row,
 * first column and interior are separate statements.
 * sizes: small h=33 w=57 | large h=6000 w=6000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_integral_image(int h, int w, uint8_t img[h][w], uint32_t sat[h][w])
{
    int i, j;
#pragma scop
    for (i = 0; i < h; i++) {
        for (j = 0; j < w; j++) {
            if (i == 0 && j == 0)
                sat[i][j] = img[i][j];
            else if (i == 0)
                sat[i][j] = sat[i][j - 1] + img[i][j];
            else if (j == 0)
                sat[i][j] = sat[i - 1][j] + img[i][j];
            else
                sat[i][j] = sat[i - 1][j] + sat[i][j - 1] - sat[i - 1][j - 1] + img[i][j];
        }
    }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 33);
    int w = size_arg(argc, argv, 2, 57);
    size_t n = (size_t)h * w;
    uint8_t *img = MAKE(uint8_t, n);
    uint32_t *sat = MAKE(uint32_t, n);
    FILL_WITH(img, n, 1, (uint8_t)u);
    TIMED(kernel_integral_image(h, w, (void *)img, (void *)sat));
    CHECKSUM_OF("sat", sat, n);
    free(img);
    free(sat);
    return 0;
}
#endif
