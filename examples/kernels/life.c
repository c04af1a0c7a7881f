/* Conway's game of life on an int board with a dead frame, two boards that
 * take turns, 2 * nt generations.
 * sizes: small nt=6 n=30 m=40 | large nt=20 n=1000 m=1000
 * types: fixed
 */
#include "kernels.h"

#define NEIGHBOURS(A, i, j)                                      \
    (A[(i) - 1][(j) - 1] + A[(i) - 1][j] + A[(i) - 1][(j) + 1]   \
     + A[i][(j) - 1] + A[i][(j) + 1]                             \
     + A[(i) + 1][(j) - 1] + A[(i) + 1][j] + A[(i) + 1][(j) + 1])

void kernel_life(int nt, int n, int m, int A[n][m], int B[n][m])
{
    int t, i, j;
#pragma scop
    for (t = 0; t < nt; t++) {
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++)
                B[i][j] = NEIGHBOURS(A, i, j) == 3 || (A[i][j] && NEIGHBOURS(A, i, j) == 2) ? 1 : 0;
        for (i = 1; i < n - 1; i++)
            for (j = 1; j < m - 1; j++)
                A[i][j] = NEIGHBOURS(B, i, j) == 3 || (B[i][j] && NEIGHBOURS(B, i, j) == 2) ? 1 : 0;
    }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int nt = size_arg(argc, argv, 1, 6);
    int n = size_arg(argc, argv, 2, 30);
    int m = size_arg(argc, argv, 3, 40);
    size_t size = (size_t)n * m;
    int *A = MAKE(int, size), *B = MAKE(int, size);

    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            A[(size_t)i * m + j] = mix(1, (size_t)i * m + j) % 3 == 0;
    TIMED(kernel_life(nt, n, m, (void *)A, (void *)B));
    CHECKSUM_OF("A", A, size);
    CHECKSUM_OF("B", B, size);
    free(A);
    free(B);
    return 0;
}
#endif
