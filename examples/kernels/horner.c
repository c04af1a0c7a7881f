/* Horner evaluation of one polynomial of degree deg at n points, coefficients
 * from the highest down.
 * sizes: small n=200 deg=12 | large n=2000000 deg=60
 * types: f64 f32
 */
#include "kernels.h"

void kernel_horner(int n, int deg, const real c[deg + 1], const real x[n], real p[n])
{
    int i, k;
#pragma scop
    for (i = 0; i < n; i++) {
        p[i] = c[deg];
        for (k = deg - 1; k >= 0; k--)
            p[i] = p[i] * x[i] + c[k];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 200);
    int deg = size_arg(argc, argv, 2, 12);
    real *c = make_reals((size_t)deg + 1), *x = make_reals(n), *p = make_reals(n);

    fill(c, (size_t)deg + 1, 1);
    for (int i = 0; i < n; i++)
        x[i] = sample(2, i) - 1;
    TIMED(kernel_horner(n, deg, c, x, p));
    print_checksum("p", p, n);
    free(c);
    free(x);
    free(p);
    return 0;
}
#endif
