/* deriche: Deriche's recursive smoothing of a w x h image.  Along each line a
 * causal and an anticausal second-order filter run and are added,
 *     f_j = c0 x_j + c1 x_{j-1} + b1 f_{j-1} + b2 f_{j-2},
 *     g_j = c2 x_{j+1} + c3 x_{j+2} + b1 g_{j+1} + b2 g_{j+2},
 * first over j (along h), then over i (along w); c, b follow from alpha and
 * give unit gain.  Outside the image everything counts as 0.
 * sizes: small w=192 h=128 | large w=4096 h=2160
 * types: f64 f32
 */
#include "kernels.h"

void kernel_deriche(int w, int h, real alpha, real in[w][h], real out[w][h],
                    real f[w][h], real g[w][h])
{
    real e, gain, c0, c1, c2, c3, b1, b2;
    real x1, x2, y1, y2;

#pragma scop
    e = EXP(-alpha);
    gain = (1 - e) * (1 - e) / (1 + 2 * alpha * e - e * e);
    c0 = gain;
    c1 = gain * e * (alpha - 1);
    c2 = gain * e * (alpha + 1);
    c3 = -gain * e * e;
    b1 = 2 * e;
    b2 = -e * e;

    for (int i = 0; i < w; i++) {
        x1 = 0;
        y1 = 0;
        y2 = 0;
        for (int j = 0; j < h; j++) {
            f[i][j] = c0 * in[i][j] + c1 * x1 + b1 * y1 + b2 * y2;
            x1 = in[i][j];
            y2 = y1;
            y1 = f[i][j];
        }
    }
    for (int i = 0; i < w; i++) {
        x1 = 0;
        x2 = 0;
        y1 = 0;
        y2 = 0;
        for (int j = h - 1; j >= 0; j--) {
            g[i][j] = c2 * x1 + c3 * x2 + b1 * y1 + b2 * y2;
            x2 = x1;
            x1 = in[i][j];
            y2 = y1;
            y1 = g[i][j];
        }
    }
    for (int i = 0; i < w; i++)
        for (int j = 0; j < h; j++)
            out[i][j] = f[i][j] + g[i][j];

    for (int j = 0; j < h; j++) {
        x1 = 0;
        y1 = 0;
        y2 = 0;
        for (int i = 0; i < w; i++) {
            f[i][j] = c0 * out[i][j] + c1 * x1 + b1 * y1 + b2 * y2;
            x1 = out[i][j];
            y2 = y1;
            y1 = f[i][j];
        }
    }
    for (int j = 0; j < h; j++) {
        x1 = 0;
        x2 = 0;
        y1 = 0;
        y2 = 0;
        for (int i = w - 1; i >= 0; i--) {
            g[i][j] = c2 * x1 + c3 * x2 + b1 * y1 + b2 * y2;
            x2 = x1;
            x1 = out[i][j];
            y2 = y1;
            y1 = g[i][j];
        }
    }
    for (int i = 0; i < w; i++)
        for (int j = 0; j < h; j++)
            out[i][j] = f[i][j] + g[i][j];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int w = (int)size_arg(argc, argv, 1, 192);
    int h = (int)size_arg(argc, argv, 2, 128);
    size_t n = (size_t)w * h;
    real *in = make_reals(n), *out = make_reals(n), *f = make_reals(n), *g = make_reals(n);

    fill(in, n, 1);
    TIMED(kernel_deriche(w, h, (real)0.25, (void *)in, (void *)out, (void *)f, (void *)g));
    print_checksum("out", out, n);
    free(in);
    free(out);
    free(f);
    free(g);
    return 0;
}
#endif
