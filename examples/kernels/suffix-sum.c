/* Suffix sums of every row, from the right end down, and the suffix maximum:
 * loops that count down with > and >=.
 * sizes: small n=40 m=90 | large n=3000 m=4000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_suffix_sum(int n, int m, real A[n][m], real S[n][m], real M[n][m])
{
    int i, j;
#pragma scop
    for (i = n - 1; i >= 0; i--)
        for (j = m; j > 0; j--)
            if (j == m) {
                S[i][j - 1] = A[i][j - 1];
                M[i][j - 1] = A[i][j - 1];
            } else {
                S[i][j - 1] = A[i][j - 1] + S[i][j];
                M[i][j - 1] = A[i][j - 1] > M[i][j] ? A[i][j - 1] : M[i][j];
            }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 40);
    int m = size_arg(argc, argv, 2, 90);
    size_t size = (size_t)n * m;
    real *A = make_reals(size), *S = make_reals(size), *M = make_reals(size);

    fill(A, size, 1);
    TIMED(kernel_suffix_sum(n, m, (void *)A, (void *)S, (void *)M));
    print_checksum("S", S, size);
    print_checksum("M", M, size);
    free(A);
    free(S);
    free(M);
    return 0;
}
#endif
