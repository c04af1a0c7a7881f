/* Values brought between two bounds of their row, and how many had to move: data-
 * dependent `if` with `else if`, and a count under a condition.
 * sizes: small n=60 m=70 | large n=3000 m=4000
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_clamp(int n, int m, real X[n][m], const real lo[n], const real hi[n], unsigned moved[n])
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i++) {
        moved[i] = 0;
        for (j = 0; j < m; j++) {
            if (X[i][j] < lo[i] || X[i][j] > hi[i])
                moved[i]++;
            if (X[i][j] < lo[i])
                X[i][j] = lo[i];
            else if (X[i][j] > hi[i])
                X[i][j] = hi[i];
        }
    }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 60);
    int m = (int)size_arg(argc, argv, 2, 70);
    size_t nX = (size_t)n * m;
    real *X = make_reals(nX), *lo = make_reals(n), *hi = make_reals(n);
    unsigned *moved = MAKE(unsigned, n);

    fill(X, nX, 1);
    for (int i = 0; i < n; i++) {
        lo[i] = (real)(REAL_IS_INTEGER ? -3 : 0.7);
        hi[i] = (real)(REAL_IS_INTEGER ? 4 : 1.25);
    }
    TIMED(kernel_clamp(n, m, (void *)X, lo, hi, moved));
    print_checksum("X", X, nX);
    CHECKSUM_OF("moved", moved, n);
    free(X);
    free(lo);
    free(hi);
    free(moved);
    return 0;
}
#endif
