/* Sobel edge detector on 8-bit pixels: |gx| + |gy| saturated to 255.
 * The gradients are kept in two int16_t images as well.
 * sizes: small rows=50 cols=66 | large rows=5000 cols=5000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

#define ABS(x) ((x) < 0 ? -(x) : (x))

void kernel_sobel(int rows, int cols, const uint8_t img[rows][cols],
                  int16_t gx[rows][cols], int16_t gy[rows][cols],
                  uint8_t edge[rows][cols])
{
#pragma scop
    for (int y = 1; y <= rows - 2; ++y) {
        for (int x = 1; x <= cols - 2; ++x) {
            int sx = img[y - 1][x + 1] + 2 * img[y][x + 1] + img[y + 1][x + 1]
                     - img[y - 1][x - 1] - 2 * img[y][x - 1] - img[y + 1][x - 1];
            int sy = img[y + 1][x - 1] + 2 * img[y + 1][x] + img[y + 1][x + 1]
                     - img[y - 1][x - 1] - 2 * img[y - 1][x] - img[y - 1][x + 1];
            gx[y][x] = (int16_t)sx;
            gy[y][x] = (int16_t)sy;
            edge[y][x] = (uint8_t)(ABS(sx) + ABS(sy) > 255 ? 255 : ABS(sx) + ABS(sy));
        }
    }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int rows = size_arg(argc, argv, 1, 50);
    int cols = size_arg(argc, argv, 2, 66);
    size_t n = (size_t)rows * cols;
    uint8_t *img = MAKE(uint8_t, n);
    int16_t *gx = MAKE(int16_t, n);
    int16_t *gy = MAKE(int16_t, n);
    uint8_t *edge = MAKE(uint8_t, n);
    FILL_WITH(img, n, 1, (uint8_t)(u % 97));
    TIMED(kernel_sobel(rows, cols, (void *)img, (void *)gx, (void *)gy, (void *)edge));
    CHECKSUM_OF("gx", gx, n);
    CHECKSUM_OF("gy", gy, n);
    CHECKSUM_OF("edge", edge, n);
    free(img);
    free(gx);
    free(gy);
    free(edge);
    return 0;
}
#endif
