/* A picture filtered with 5 x 5 weights, compared with the plain loops.
 *     tuned-plan [height [width]]
 */
#include "../app.h"
#include "filter.h"

int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 1080), w = size_arg(argc, argv, 2, 1920);
    float (*in)[w + 4] = make_array((size_t)(h + 4) * (size_t)(w + 4), sizeof(float)), k[5][5];
    float (*out)[w] = make_array((size_t)h * w, sizeof(float)), (*expected)[w] = make_array((size_t)h * w, sizeof(float));
    for (int y = 0; y < h + 4; y++)
        for (int x = 0; x < w + 4; x++)
            in[y][x] = (float)uniform();
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            k[i][j] = (float)uniform() / 25;
    filter(h, w, in, out, k); /* the threads start, pages are touched */
    filter_plain(h, w, in, expected, k);
    double start = now();
    filter(h, w, in, out, k);
    double fast = now() - start;
    start = now();
    filter_plain(h, w, in, expected, k);
    double plain = now() - start, error = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            error = worse(fabs((double)out[y][x] - (double)expected[y][x]), error);
    int wrong = report("5 x 5 filter", fast, plain, error, 1e-6); /* multiply-adds may be fused in one and not the other */
    free(in);
    free(out);
    free(expected);
    return wrong;
}
