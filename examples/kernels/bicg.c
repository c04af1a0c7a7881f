/* bicg: the two products at the heart of the biconjugate gradient method,
 *     s := A^T r,   q := A p,   A is n x m.
 * sizes: small m=116 n=124 | large m=1900 n=2100
 * types: f64 f32 i32
 */
#include "kernels.h"

void kernel_bicg(int m, int n, real A[n][m], real s[m], real q[n], real p[m], real r[n])
{
    int i, j;

#pragma scop
    for (j = 0; j < m; j++)
        s[j] = 0;
    for (i = 0; i < n; i++) {
        q[i] = 0;
        for (j = 0; j < m; j++) {
            s[j] += r[i] * A[i][j];
            q[i] += A[i][j] * p[j];
        }
    }
#pragma endscop
}

#ifdef DRIVER
int main(int argc, char **argv)
{
    int m = (int)size_arg(argc, argv, 1, 116);
    int n = (int)size_arg(argc, argv, 2, 124);
    size_t nA = (size_t)n * m;
    real *A = make_reals(nA), *s = make_reals(m), *q = make_reals(n);
    real *p = make_reals(m), *r = make_reals(n);

    fill(A, nA, 1);
    fill(p, m, 2);
    fill(r, n, 3);
    TIMED(kernel_bicg(m, n, (void *)A, s, q, p, r));
    print_checksum("s", s, m);
    print_checksum("q", q, n);
    free(A);
    free(s);
    free(q);
    free(p);
    free(r);
    return 0;
}
#endif
