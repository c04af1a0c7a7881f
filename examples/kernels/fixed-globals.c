/* Everything global and of fixed size: typedef'd array types, int64_t sums of
 * int32_t products, float and double side by side, repeated `rep` times.
 * sizes: small rep=2 | large rep=60
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

enum { NI = 120, NJ = 96, NK = 88 };

typedef int32_t left_t[NI][NK];
typedef int32_t right_t[NK][NJ];

left_t fg_left;
right_t fg_right;
int64_t fg_sum[NI][NJ];
static float fg_single[NI][NJ];
static double fg_mixed[NI];

void kernel_fixed_globals(int rep)
{
    int r, i, j, k;
#pragma scop
    for (r = 0; r < rep; r++)
        for (i = 0; i < NI; i++) {
            fg_mixed[i] = 0.0;
            for (j = 0; j < NJ; j++) {
                for (k = 0; k < NK; k++)
                    fg_sum[i][j] += (int64_t)fg_left[i][k] * fg_right[k][j];
                fg_single[i][j] = 0.5f * fg_single[i][j] + (float)(fg_sum[i][j] % 1000);
                fg_mixed[i] += fg_single[i][j];
            }
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int rep = size_arg(argc, argv, 1, 2);

    FILL_WITH(&fg_left[0][0], NI * NK, 1, (int32_t)(u >> 8));
    FILL_WITH(&fg_right[0][0], NK * NJ, 2, (int32_t)(u >> 8) - (1 << 23));
    TIMED(kernel_fixed_globals(rep));
    CHECKSUM_OF("sum", &fg_sum[0][0], NI * NJ);
    CHECKSUM_OF("single", &fg_single[0][0], NI * NJ);
    CHECKSUM_OF("mixed", fg_mixed, NI);
    return 0;
}
#endif
