/* Inclusive prefix sum of a vector, and the prefix sum of that.
 * sizes: small n=500 | large n=20000000
 * types: f64 i64
 */
#include "kernels.h"

void kernel_prefix_sum(int n, const real x[n], real s[n], real ss[n])
{
    int i;
#pragma scop
    for (i = 0; i < n; i++) {
        if (i == 0) {
            s[i] = x[i];
            ss[i] = s[i];
        } else {
            s[i] = s[i - 1] + x[i];
            ss[i] = ss[i - 1] + s[i];
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 500);
    real *x = make_reals(n), *s = make_reals(n), *ss = make_reals(n);

    fill(x, n, 1);
    TIMED(kernel_prefix_sum(n, x, s, ss));
    print_checksum("s", s, n);
    print_checksum("ss", ss, n);
    free(x);
    free(s);
    free(ss);
    return 0;
}
#endif
