/* A picture blurred by 64 emulated compute cores, compared with the plain loops.
 *     core-group [height [width]]
 */
#include "../app.h"
#include "blur.h"

int main(int argc, char **argv)
{
    int h = size_arg(argc, argv, 1, 200), w = size_arg(argc, argv, 2, 150);
    double (*in)[w] = make_array((size_t)h * w, sizeof(double));
    double (*out)[w] = make_array((size_t)h * w, sizeof(double)), (*expected)[w] = make_array((size_t)h * w, sizeof(double));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            in[y][x] = uniform();
    double start = now(), error = 0;
    blur(h, w, in, out);
    double emulated = now() - start;
    start = now();
    blur_plain(h, w, in, expected);
    double plain = now() - start;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            error = worse(fabs(out[y][x] - expected[y][x]), error);
    int wrong = report("emulated cores", emulated, plain, error, 1e-15);
    free(in);
    free(out);
    free(expected);
    return wrong;
}
