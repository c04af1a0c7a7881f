/* Batch normalisation statistics per channel over batch and space, running
 * averages, then the normalised output.
 * sizes: small nb=3 nc=5 ns=40 | large nb=32 nc=64 ns=3000
 * types: f64
 */
#include "kernels.h"

void kernel_batchnorm_train(unsigned nb, unsigned nc, unsigned ns, real momentum,
                            const real x[nb][nc][ns], real mean[nc], real var[nc],
                            real run[nc][2], real y[nb][nc][ns])
{
    unsigned b, c, s;
#pragma scop
    for (c = 0; c < nc; c++) {
        mean[c] = 0;
        var[c] = 0;
        for (b = 0; b < nb; b++)
            for (s = 0; s < ns; s++) {
                mean[c] += x[b][c][s];
                var[c] += x[b][c][s] * x[b][c][s];
            }
        mean[c] /= (real)nb * (real)ns + (real)1e-9;
        var[c] = var[c] / ((real)nb * (real)ns + (real)1e-9) - mean[c] * mean[c];
        run[c][0] = momentum * run[c][0] + (1 - momentum) * mean[c];
        run[c][1] = momentum * run[c][1] + (1 - momentum) * var[c];
    }
    for (b = 0; b < nb; b++)
        for (c = 0; c < nc; c++)
            for (s = 0; s < ns; s++)
                y[b][c][s] = (x[b][c][s] - mean[c]) / SQRT(fabs((double)var[c]) + 1e-5);
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    unsigned nb = size_arg(argc, argv, 1, 3);
    unsigned nc = size_arg(argc, argv, 2, 5);
    unsigned ns = size_arg(argc, argv, 3, 40);
    size_t size = (size_t)nb * nc * ns;
    real *x = make_reals(size), *y = make_reals(size), *mean = make_reals(nc);
    real *var = make_reals(nc), *run = make_reals(2 * (size_t)nc);

    fill(x, size, 1);
    fill(run, 2 * (size_t)nc, 2);
    TIMED(kernel_batchnorm_train(nb, nc, ns, (real)0.9, (void *)x, mean, var, (void *)run, (void *)y));
    print_checksum("mean", mean, nc);
    print_checksum("var", var, nc);
    print_checksum("run", run, 2 * (size_t)nc);
    print_checksum("y", y, size);
    free(x);
    free(y);
    free(mean);
    free(var);
    free(run);
    return 0;
}
#endif
