/* Strided convolution: output (i, j) looks at the 3 x 3 window whose corner is
 * (2i, 2j).  The accumulator is a scalar of the region.
 * sizes: small oh=30 ow=25 | large oh=2500 ow=2500
 * types: f64 f32 i32
 */
#include "kernels.h"

#define K 3
#define STRIDE 2
#define AT(i, p) (STRIDE * (i) + (p))

void kernel_conv2d_strided(int oh, int ow, const real in[2 * oh + 1][2 * ow + 1],
                           const real f[K][K], real out[oh][ow])
{
    real acc;
#pragma scop
    for (int i = 0; i < oh; ++i)
        for (int j = 0; j < ow; ++j) {
            acc = 0;
            for (int p = 0; p < K; ++p)
                for (int q = 0; q < K; ++q)
                    acc += in[AT(i, p)][AT(j, q)] * f[p][q];
            out[i][j] = acc;
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int oh = size_arg(argc, argv, 1, 30);
    int ow = size_arg(argc, argv, 2, 25);
    size_t ni = (size_t)(2 * oh + 1) * (2 * ow + 1), no = (size_t)oh * ow;
    real *in = make_reals(ni), *f = make_reals(K * K), *out = make_reals(no);

    fill(in, ni, 1);
    fill(f, K * K, 2);
    TIMED(kernel_conv2d_strided(oh, ow, (void *)in, (void *)f, (void *)out));
    print_checksum("out", out, no);
    free(in);
    free(f);
    free(out);
    return 0;
}
#endif
