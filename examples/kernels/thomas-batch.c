/* Many independent tridiagonal systems (Thomas algorithm), system index
 * innermost in memory but outermost in the loops.
 * sizes: small n=60 nsys=20 | large n=1000 nsys=2000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_thomas_batch(int n, int nsys, const real a[n][nsys], const real b[n][nsys],
                         real c[n][nsys], real d[n][nsys])
{
    int s, i;
    real m;
#pragma scop
    if (n >= 1) {
        for (s = 0; s < nsys; s++) {
            c[0][s] /= b[0][s];
            d[0][s] /= b[0][s];
            for (i = 1; i < n; i++) {
                m = 1 / (b[i][s] - a[i][s] * c[i - 1][s]);
                c[i][s] *= m;
                d[i][s] = (d[i][s] - a[i][s] * d[i - 1][s]) * m;
            }
            for (i = n - 2; i >= 0; i--)
                d[i][s] -= c[i][s] * d[i + 1][s];
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 60);
    int nsys = size_arg(argc, argv, 2, 20);
    size_t size = (size_t)n * nsys;
    real *a = make_reals(size), *b = make_reals(size), *c = make_reals(size), *d = make_reals(size);

    fill(a, size, 1);
    fill(c, size, 2);
    fill(d, size, 3);
    for (size_t i = 0; i < size; i++)
        b[i] = 4 + sample(4, i);
    TIMED(kernel_thomas_batch(n, nsys, (void *)a, (void *)b, (void *)c, (void *)d));
    print_checksum("c", c, size);
    print_checksum("d", d, size);
    free(a);
    free(b);
    free(c);
    free(d);
    return 0;
}
#endif
