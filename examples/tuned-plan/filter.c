#include "filter.h"

void filter(int h, int w, const float in[h + 4][w + 4], float out[h][w], const float k[5][5])
{
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0;
            for (int i = 0; i < 5; i++)
                for (int j = 0; j < 5; j++)
                    sum += k[i][j] * in[y + i][x + j];
            out[y][x] = sum;
        }
#pragma endscop
}
