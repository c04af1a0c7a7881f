/* Rotate a picture of 32-bit pixels by 90 degrees clockwise, then mirror it
 * into a third array: negative coefficients in subscripts.
 * sizes: small h=38 w=51 | large h=3000 w=3000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

void kernel_rotate_90(int h, int w, uint32_t a[h][w], uint32_t r[w][h], uint32_t m[w][h])
{
    int i, j;
#pragma scop
    for (i = 0; i < h; i++)
        for (j = 0; j < w; j++)
            r[j][h - 1 - i] = a[i][j];
    for (i = 0; i < w; i++)
        for (j = h - 1; j >= 0; j--)
            m[i][h - 1 - j] = r[i][j] ^ 0x00ffffffu;
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 38);
    int w = size_arg(argc, argv, 2, 51);
    size_t n = (size_t)h * w;
    uint32_t *a = MAKE(uint32_t, n);
    uint32_t *r = MAKE(uint32_t, n);
    uint32_t *m = MAKE(uint32_t, n);
    FILL_WITH(a, n, 1, u);
    TIMED(kernel_rotate_90(h, w, (void *)a, (void *)r, (void *)m));
    CHECKSUM_OF("r", r, n);
    CHECKSUM_OF("m", m, n);
    free(a);
    free(r);
    free(m);
    return 0;
}
#endif
