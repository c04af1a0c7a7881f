/* Warmth spreads on a plate of n x n cells, `steps` times; the rim keeps its temperature. B is scratch. */
typedef void spread(int steps, int n, double A[n][n], double B[n][n]);

spread heat;
spread heat_plain; /* the same source, compiled as it is: see the Makefile */
