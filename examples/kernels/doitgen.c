/* doitgen: a tensor's last axis times a matrix, in place,
 *     A_rqp := sum_s A_rqs * C_sp,   A is nr x nq x np, C is np x np;
 * the vector `row` holds one fibre's result until the fibre is done with.
 * sizes: small nq=20 nr=25 np=30 | large nq=140 nr=150 np=160
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_doitgen(int nq, int nr, int np, real A[nr][nq][np], real C[np][np], real row[np])
{
#pragma scop
    for (int r = 0; r < nr; r++)
        for (int q = 0; q < nq; q++) {
            for (int p = 0; p < np; p++) {
                row[p] = 0;
                for (int s = 0; s < np; s++)
                    row[p] += A[r][q][s] * C[s][p];
            }
            for (int p = 0; p < np; p++)
                A[r][q][p] = row[p];
        }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int nq = (int)size_arg(argc, argv, 1, 20);
    int nr = (int)size_arg(argc, argv, 2, 25);
    int np = (int)size_arg(argc, argv, 3, 30);
    size_t nA = (size_t)nr * nq * np, nC = (size_t)np * np;
    real *A = make_reals(nA), *C = make_reals(nC), *row = make_reals(np);

    fill(A, nA, 1);
    fill(C, nC, 2);
    TIMED(kernel_doitgen(nq, nr, np, (void *)A, (void *)C, row));
    print_checksum("A", A, nA);
    free(A);
    free(C);
    free(row);
    return 0;
}
#endif
