/* Bring every row of A to the range 0 to 1; lo and hi keep what it was. */
typedef void scaling(int n, int m, double A[n][m], double lo[n], double hi[n]);

scaling normalize;
scaling normalize_plain; /* the same source, compiled as it is: see the Makefile */
