/* Variables declared inside the region, and text around the regions that must not change. */
#define SCALE 2.0   /* a macro */

static inline double square(double x) { return x * x; }

void rows(int n, int m, double A[n][m], double norm[n])
{
    if (n < 1) return;	/* a tab before this comment */

#pragma scop
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < m; j++)
            sum += square(A[i][j]);
        norm[i] = sum * SCALE;
    }
#pragma endscop
    /* between two regions */
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            A[i][j] /= norm[i];
#pragma endscop
}
