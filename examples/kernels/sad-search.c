/* Motion search: for each displacement (dy, dx) in a 16 x 16 window, the sum
 * of absolute differences between a block and a reference frame.
 * sizes: small h=24 w=32 | large h=1000 w=1200
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

#define RANGE 16

void kernel_sad_search(int h, int w, const uint8_t cur[h][w],
                       const uint8_t ref[h + RANGE][w + RANGE],
                       uint32_t sad[RANGE][RANGE])
{
    int dy, dx, y, x;
#pragma scop
    for (dy = 0; dy < RANGE; dy++)
        for (dx = 0; dx < RANGE; dx++) {
            sad[dy][dx] = 0;
            for (y = 0; y < h; y++)
                for (x = 0; x < w; x++)
                    sad[dy][dx] += (uint32_t)(cur[y][x] > ref[y + dy][x + dx]
                                                  ? cur[y][x] - ref[y + dy][x + dx]
                                                  : ref[y + dy][x + dx] - cur[y][x]);
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 24);
    int w = size_arg(argc, argv, 2, 32);
    size_t n = (size_t)h * w;
    size_t nr = (size_t)(h + RANGE) * (w + RANGE);
    uint8_t *cur = MAKE(uint8_t, n);
    uint8_t *ref = MAKE(uint8_t, nr);
    uint32_t *sad = MAKE(uint32_t, RANGE * RANGE);
    FILL_WITH(cur, n, 1, (uint8_t)u);
    FILL_WITH(ref, nr, 2, (uint8_t)u);
    TIMED(kernel_sad_search(h, w, (void *)cur, (void *)ref, (void *)sad));
    CHECKSUM_OF("sad", sad, RANGE * RANGE);
    free(cur);
    free(ref);
    free(sad);
    return 0;
}
#endif
