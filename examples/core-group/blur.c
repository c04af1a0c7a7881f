#include "blur.h"

void blur(int h, int w, const double in[h][w], double out[h][w])
{
#pragma scop
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++)
            out[y][x] = (in[y - 1][x - 1] + in[y - 1][x] + in[y - 1][x + 1] + in[y][x - 1] + in[y][x] + in[y][x + 1] +
                         in[y + 1][x - 1] + in[y + 1][x] + in[y + 1][x + 1]) /
                        9;
#pragma endscop
}
