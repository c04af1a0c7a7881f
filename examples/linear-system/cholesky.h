/* A = L L^T for a symmetric positive definite matrix; L takes the place of the lower triangle. */
typedef void factor(int n, double A[n][n]);

factor cholesky;
factor cholesky_plain; /* the same source, compiled as it is: see the Makefile */
