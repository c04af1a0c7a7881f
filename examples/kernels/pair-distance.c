/* Upper triangle of the pairwise distance matrix of n points (Euclidean with
 * hypot, and largest coordinate difference with fmax / fabs), mirrored after.
 * sizes: small n=60 | large n=2500
 * types: fixed
 */
#include "kernels.h"

typedef double point[2];

void kernel_pair_distance(int n, point *p, double D[n][n], double M[n][n])
{
    int i, j;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = i + 1; j < n; j++) {
            D[i][j] = hypot(p[i][0] - p[j][0], p[i][1] - p[j][1]);
            M[i][j] = fmax(fabs(p[i][0] - p[j][0]), fabs(p[i][1] - p[j][1]));
        }
    for (i = 0; i < n; i++) {
        D[i][i] = 0.0;
        M[i][i] = 0.0;
        for (j = 0; j < i; j++) {
            D[i][j] = D[j][i];
            M[i][j] = M[j][i];
        }
    }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 60);
    size_t nn = (size_t)n * n;
    double *p = MAKE(double, 2 * (size_t)n), *D = MAKE(double, nn), *M = MAKE(double, nn);

    FILL_WITH(p, 2 * (size_t)n, 1, (double)(u % 100000) / 1000.0);
    TIMED(kernel_pair_distance(n, (void *)p, (void *)D, (void *)M));
    CHECKSUM_OF("D", D, nn);
    CHECKSUM_OF("M", M, nn);
    free(p);
    free(D);
    free(M);
    return 0;
}
#endif
