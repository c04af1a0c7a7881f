/* Upsample a signal by two with linear interpolation: even outputs copy
 * a[i/2], odd ones average neighbours; the last one repeats.
 * sizes: small n=150 | large n=15000000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_upsample_linear(int n, const real a[n], real b[2 * n])
{
    int i;
#pragma scop
    for (i = 0; i < 2 * n; i++)
        if (i % 2 == 0 || i == 2 * n - 1)
            b[i] = a[i / 2];
        else
            b[i] = (a[i / 2] + a[i / 2 + 1]) / 2;
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 150);
    size_t nb = 2 * (size_t)n;
    real *a = make_reals(n), *b = make_reals(nb);

    fill(a, n, 1);
    TIMED(kernel_upsample_linear(n, a, b));
    print_checksum("b", b, nb);
    free(a);
    free(b);
    return 0;
}
#endif
