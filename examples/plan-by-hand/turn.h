/* out is in, turned by a quarter and weighted: out[j][n - 1 - i] = w[j] * in[i][j]. */
typedef void turning(int n, int m, const float in[n][m], float out[m][n], const float w[m]);

turning turn;
turning turn_plain; /* the same source, compiled as it is: see the Makefile */
