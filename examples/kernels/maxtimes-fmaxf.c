/* Max-times product in float with fmaxf.
 * sizes: small n=40 m=50 k=60 | large n=700 m=800 k=900
 * types: fixed
 */
#include "kernels.h"

void kernel_maxtimes_fmaxf(int n, int m, int k, float C[n][m], const float A[n][k],
                           const float B[k][m])
{
    int i, j, l;
#pragma scop
    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            for (l = 0; l < k; l++)
                C[i][j] = fmaxf(C[i][j], A[i][l] * B[l][j]);
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int n = (int)size_arg(argc, argv, 1, 40);
    int m = (int)size_arg(argc, argv, 2, 50);
    int k = (int)size_arg(argc, argv, 3, 60);
    size_t nA = (size_t)n * k, nB = (size_t)k * m, nC = (size_t)n * m;
    float *A = MAKE(float, nA);
    float *B = MAKE(float, nB);
    float *C = MAKE(float, nC);

    FILL_WITH(A, nA, 1, (float)(u % 1000) / 1000);
    FILL_WITH(B, nB, 2, (float)(u % 777) / 777);
    TIMED(kernel_maxtimes_fmaxf(n, m, k, (void *)C, (void *)A, (void *)B));
    CHECKSUM_OF("C", C, nC);
    free(A);
    free(B);
    free(C);
    return 0;
}
#endif
