/* What it costs at least to turn x into y: 2 for a letter put in or left out, 3 for another letter. D is the table of
 * all costs on the way. */
#define GAP 2
#define OTHER 3
typedef int aligning(int n, int m, const char x[n], const char y[m], int D[n + 1][m + 1]);

aligning align;
aligning align_plain; /* the same source, compiled as it is: see the Makefile */
