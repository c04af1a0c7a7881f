/* durbin: the Yule-Walker system T y = -r, T the symmetric Toeplitz matrix of
 * 1, r_0, .., r_{n-2}, by the Levinson-Durbin recursion.  With beta = 1 and
 * a = 0 to begin with, step k does
 *     beta := (1 - a^2) beta,   a := -(r_k + sum_{i<k} r_{k-1-i} y_i) / beta,
 *     y_i  := y_i + a y_{k-1-i}  (all i < k at once),   y_k := a.
 * sizes: small n=120 | large n=2000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_durbin(int n, real r[n], real y[n], real z[n])
{
    real a, beta, sum;

#pragma scop
    beta = 1;
    a = 0;
    for (int k = 0; k < n; k++) {
        beta = (1 - a * a) * beta;
        sum = 0;
        for (int i = 0; i < k; i++)
            sum += r[k - i - 1] * y[i];
        a = -(r[k] + sum) / beta;
        for (int i = 0; i < k; i++)
            z[i] = y[i] + a * y[k - i - 1];
        for (int i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = a;
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 120);
    real *r = make_reals(n), *y = make_reals(n), *z = make_reals(n);

    /* Sum of the off-diagonal entries of any row below 1: T is definite. */
    fill(r, n, 1);
    for (int i = 0; i < n; i++)
        r[i] /= (real)2 * (real)(i + 2) * (real)(i + 2);
    TIMED(kernel_durbin(n, r, y, z));
    print_checksum("y", y, n);
    free(r);
    free(y);
    free(z);
    return 0;
}
#endif
