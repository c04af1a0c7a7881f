/* Sharpening with the 5 / -1 cross on 8-bit pixels: int accumulator inside
 * the region, result clamped to 0..255, border pixels copied.
 * sizes: small h=47 w=61 | large h=6000 w=6000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

typedef uint8_t pixel;

void kernel_sharpen(int h, int w, pixel in[h][w], pixel out[h][w])
{
    int y, x, acc;

#pragma scop
    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            if (y >= 1 && y < h - 1 && x >= 1 && x < w - 1) {
                acc = 5 * in[y][x];
                acc -= in[y - 1][x];
                acc -= in[y + 1][x];
                acc -= in[y][x - 1];
                acc -= in[y][x + 1];
                out[y][x] = acc < 0 ? 0 : acc > 255 ? 255 : (pixel)acc;
            } else {
                out[y][x] = in[y][x];
            }
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 47);
    int w = size_arg(argc, argv, 2, 61);
    size_t n = (size_t)h * w;
    pixel *in = MAKE(pixel, n);
    pixel *out = MAKE(pixel, n);
    FILL_WITH(in, n, 3, (pixel)u);
    TIMED(kernel_sharpen(h, w, (void *)in, (void *)out));
    CHECKSUM_OF("out", out, n);
    free(in);
    free(out);
    return 0;
}
#endif
