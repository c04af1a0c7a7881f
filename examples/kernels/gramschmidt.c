/* gramschmidt: A = Q R by the modified Gram-Schmidt process, A is m x n;
 *     R_kk = |a_k|,  q_k = a_k / R_kk,  R_kj = q_k . a_j,  a_j := a_j - q_k R_kj
 * for j > k; a vanished column gives q_k = 0.  PolyBench's sizes with the roles
 * of m and n exchanged: more columns than rows would leave only rounding noise.
 * sizes: small m=80 n=60 | large m=1200 n=1000
 * types: f64 f32
 */
#include "kernels.h"

void kernel_gramschmidt(int m, int n, real A[m][n], real R[n][n], real Q[m][n])
{
#pragma scop
    for (int k = 0; k < n; k++) {
        real square = 0;
        for (int i = 0; i < m; i++)
            square += A[i][k] * A[i][k];
        R[k][k] = SQRT(square);
        real norm = R[k][k] > 0 ? R[k][k] : 1;
        for (int i = 0; i < m; i++)
            Q[i][k] = A[i][k] / norm;
        for (int j = k + 1; j < n; j++) {
            R[k][j] = 0;
            for (int i = 0; i < m; i++)
                R[k][j] += Q[i][k] * A[i][j];
            for (int i = 0; i < m; i++)
                A[i][j] -= Q[i][k] * R[k][j];
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int m = (int)size_arg(argc, argv, 1, 80);
    int n = (int)size_arg(argc, argv, 2, 60);
    size_t nA = (size_t)m * n, nR = (size_t)n * n;
    real *A = make_reals(nA), *R = make_reals(nR), *Q = make_reals(nA);

    fill(A, nA, 1);
    TIMED(kernel_gramschmidt(m, n, (void *)A, (void *)R, (void *)Q));
    print_checksum("R", R, nR);
    print_checksum("Q", Q, nA);
    free(A);
    free(R);
    free(Q);
    return 0;
}
#endif
