/* Luma of an image of struct pixels, in 8.8 fixed point (77, 150, 29)/256.
 * Array elements are structs; only their fields are read.
 * sizes: small height=40 width=56 | large height=10000 width=10000
 * types: fixed
 */
#include "kernels.h"

struct pixel {
    unsigned char r, g, b;
};

void kernel_rgb_to_gray(long height, long width,
                        const struct pixel src[height][width],
                        unsigned char gray[height][width])
{
#pragma scop
    for (long y = 0; y < height; y += 1)
        for (long x = 0; x < width; x += 1)
            gray[y][x] = (unsigned char)((77 * src[y][x].r + 150 * src[y][x].g
                                          + 29 * src[y][x].b + 128) >> 8);
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    long height = size_arg(argc, argv, 1, 40);
    long width = size_arg(argc, argv, 2, 56);
    size_t n = (size_t)height * width;
    struct pixel *src = MAKE(struct pixel, n);
    unsigned char *gray = MAKE(unsigned char, n);
    FILL_WITH(src, n, 1, ((struct pixel){u & 255, (u >> 8) & 255, (u >> 16) & 255}));
    TIMED(kernel_rgb_to_gray(height, width, (void *)src, (void *)gray));
    CHECKSUM_OF("gray", gray, n);
    free(src);
    free(gray);
    return 0;
}
#endif
