/* Split a vector into its even and odd elements, then sum the thirds: step-2
 * and step-3 loops, `i = i + 2` among them.
 * sizes: small n=400 | large n=20000000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_even_odd_split(int n, real x[n], real even[n / 2 + 1], real odd[n / 2 + 1],
                           real third[n / 3 + 1])
{
    int i;
#pragma scop
    for (i = 0; i < n; i = i + 2)
        even[i / 2] = x[i];
    for (i = 1; i < n; i += 2)
        odd[(i - 1) / 2] = x[i];
    for (i = 0; i + 2 < n; i += 3)
        third[i / 3] = x[i] + x[i + 1] + x[i + 2];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 400);
    size_t h = (size_t)n / 2 + 1, d = (size_t)n / 3 + 1;
    real *x = make_reals(n), *even = make_reals(h), *odd = make_reals(h), *third = make_reals(d);

    fill(x, n, 1);
    TIMED(kernel_even_odd_split(n, x, even, odd, third));
    print_checksum("even", even, h);
    print_checksum("odd", odd, h);
    print_checksum("third", third, d);
    free(x);
    free(even);
    free(odd);
    free(third);
    return 0;
}
#endif
