/* Local alignment with affine gaps (Gotoh): three int tables, all maxima as
 * ?:, and the best score of each row.
 * sizes: small n=50 m=60 | large n=3000 m=3000
 * types: fixed
 */
#include "kernels.h"

#define OPEN 5
#define EXTEND 1

void kernel_smith_waterman(int n, int m, const int a[n], const int b[m], int H[n + 1][m + 1],
                           int E[n + 1][m + 1], int F[n + 1][m + 1], int best[n + 1])
{
    int i, j, h;
#pragma scop
    for (i = 0; i <= n; i++) {
        H[i][0] = 0;
        E[i][0] = 0;
        F[i][0] = 0;
        best[i] = 0;
    }
    for (j = 1; j <= m; j++) {
        H[0][j] = 0;
        E[0][j] = 0;
        F[0][j] = 0;
    }
    for (i = 1; i <= n; i++)
        for (j = 1; j <= m; j++) {
            E[i][j] = MAX(E[i][j - 1] - EXTEND, H[i][j - 1] - OPEN);
            F[i][j] = MAX(F[i - 1][j] - EXTEND, H[i - 1][j] - OPEN);
            h = H[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 4 : -3);
            h = h > E[i][j] ? h : E[i][j];
            h = h > F[i][j] ? h : F[i][j];
            H[i][j] = h > 0 ? h : 0;
            best[i] = H[i][j] > best[i] ? H[i][j] : best[i];
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = size_arg(argc, argv, 1, 50);
    int m = size_arg(argc, argv, 2, 60);
    size_t nH = ((size_t)n + 1) * (m + 1);
    int *a = MAKE(int, n), *b = MAKE(int, m);
    int *H = MAKE(int, nH), *E = MAKE(int, nH), *F = MAKE(int, nH), *best = MAKE(int, (size_t)n + 1);

    FILL_WITH(a, n, 1, (int)(u % 4));
    FILL_WITH(b, m, 2, (int)(u % 4));
    TIMED(kernel_smith_waterman(n, m, a, b, (void *)H, (void *)E, (void *)F, best));
    CHECKSUM_OF("H", H, nH);
    CHECKSUM_OF("E", E, nH);
    CHECKSUM_OF("F", F, nH);
    CHECKSUM_OF("best", best, (size_t)n + 1);
    free(a);
    free(b);
    free(H);
    free(E);
    free(F);
    free(best);
    return 0;
}
#endif
