/* Row sums, column sums, total and maximum of a matrix in one sweep.
 * sizes: small n=60 m=70 | large n=5000 m=5000
 * types: f64 f32 i32 i64
 */
#include "kernels.h"

void kernel_reduce_2d(int n, int m, real A[n][m], real row[n], real col[m], real all[2])
{
    int i, j;
#pragma scop
    all[0] = 0;
    all[1] = 0;
    for (j = 0; j < m; j++)
        col[j] = 0;
    for (i = 0; i < n; i++) {
        row[i] = 0;
        for (j = 0; j < m; j++) {
            row[i] += A[i][j];
            col[j] += A[i][j];
            all[1] = A[i][j] > all[1] ? A[i][j] : all[1];
        }
        all[0] += row[i];
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 60);
    int m = size_arg(argc, argv, 2, 70);
    size_t size = (size_t)n * m;
    real *A = make_reals(size), *row = make_reals(n), *col = make_reals(m), all[2];

    fill(A, size, 1);
    TIMED(kernel_reduce_2d(n, m, (void *)A, row, col, all));
    print_checksum("row", row, n);
    print_checksum("col", col, m);
    print_checksum("all", all, 2);
    free(A);
    free(row);
    free(col);
    return 0;
}
#endif
