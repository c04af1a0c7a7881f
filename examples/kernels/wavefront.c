/* Plain 2-D recurrence with a diagonal wavefront: each cell averages its west,
 * north and north-west neighbours; bounds written with <= and long.
 * sizes: small n=70 m=80 | large n=6000 m=6000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_wavefront(long n, long m, real A[n][m])
{
#pragma scop
    for (long i = 1; i <= n - 1; i++)
        for (long j = 1; j <= m - 1; j++)
            A[i][j] += (A[i - 1][j] + A[i][j - 1] + A[i - 1][j - 1]) / 4;
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    long n = size_arg(argc, argv, 1, 70);
    long m = size_arg(argc, argv, 2, 80);
    size_t size = (size_t)n * m;
    real *A = make_reals(size);

    fill(A, size, 1);
    TIMED(kernel_wavefront(n, m, (void *)A));
    print_checksum("A", A, size);
    free(A);
    return 0;
}
#endif
