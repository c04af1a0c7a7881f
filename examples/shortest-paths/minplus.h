/* The matrix product over (min, +): c[i][j] = min(c[i][j], a[i][k] + b[k][j]) over all k.
 * c, a and b are blocks of n x m, n x l and l x m elements, in matrices with rows of ldc, lda and ldb elements; c must
 * not overlap the others. */
typedef void product(int n, int m, int l, int ldc, double c[][ldc], int lda, double a[][lda], int ldb, double b[][ldb]);

product minplus;
product minplus_plain; /* the same source, compiled as it is: see the Makefile */
