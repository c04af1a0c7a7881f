/* out[y][x] is the sum of in[y + i][x + j], weighted by k[i][j]. */
typedef void filtering(int h, int w, const float in[h + 4][w + 4], float out[h][w], const float k[5][5]);

filtering filter;
filtering filter_plain; /* the same source, compiled as it is: see the Makefile */
