/* y = T x and z = H x for a Toeplitz T (t[i-j+n-1]) and a Hankel H (h[i+j]),
 * and w = C x for a circulant C with the wrap-around as if / else.
 * sizes: small n=100 | large n=12000
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_toeplitz_mv(int n, const real t[2 * n + 1], const real h[2 * n + 1], const real c[n],
                        const real x[n], real y[n], real z[n], real w[n])
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i++) {
        y[i] = 0;
        z[i] = 0;
        w[i] = 0;
        for (j = 0; j < n; j++) {
            y[i] += t[i - j + n - 1] * x[j];
            z[i] += h[i + j] * x[j];
            if (j <= i)
                w[i] += c[i - j] * x[j];
            else
                w[i] += c[n + i - j] * x[j];
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 100);
    size_t nt = 2 * (size_t)n + 1;
    real *t = make_reals(nt), *h = make_reals(nt), *c = make_reals(n), *x = make_reals(n);
    real *y = make_reals(n), *z = make_reals(n), *w = make_reals(n);

    fill(t, nt, 1);
    fill(h, nt, 2);
    fill(c, n, 3);
    fill(x, n, 4);
    TIMED(kernel_toeplitz_mv(n, t, h, c, x, y, z, w));
    print_checksum("y", y, n);
    print_checksum("z", z, n);
    print_checksum("w", w, n);
    free(t);
    free(h);
    free(c);
    free(x);
    free(y);
    free(z);
    free(w);
    return 0;
}
#endif
