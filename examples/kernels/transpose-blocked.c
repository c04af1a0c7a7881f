/* A transpose that somebody tiled by hand already: blocks of 32 with the last
 * ones cut short by a minimum.
 * sizes: small n=70 m=85 | large n=4000 m=3500
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

#define BS 32

void kernel_transpose_blocked(int n, int m, real A[n][m], real T[m][n])
{
    int ii, jj, i, j;
#pragma scop
    for (ii = 0; ii < n; ii += BS)
        for (jj = 0; jj < m; jj += BS)
            for (i = ii; i < MIN(ii + BS, n); i++)
                for (j = jj; j < MIN(jj + BS, m); j++)
                    T[j][i] = A[i][j];
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 70);
    int m = size_arg(argc, argv, 2, 85);
    size_t size = (size_t)n * m;
    real *A = make_reals(size), *T = make_reals(size);

    fill(A, size, 1);
    TIMED(kernel_transpose_blocked(n, m, (void *)A, (void *)T));
    print_checksum("T", T, size);
    free(A);
    free(T);
    return 0;
}
#endif
