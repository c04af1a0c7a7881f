/* Solve A x = b for a symmetric positive definite A by conjugate gradients, from the x given, until the residual is
 * `small` times that of the start or `most` steps are made; how many were. The work array has 3 n elements. */
typedef int solver(int n, double a[n][n], double b[n], double x[n], double work[3][n], double small, int most);

solver cg;
solver cg_plain; /* the same source, compiled as it is: see the Makefile */
