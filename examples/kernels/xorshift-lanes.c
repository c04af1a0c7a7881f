/* Many xorshift32 generators stepped together: bit operations and shifts on
 * uint32_t, sums of the outputs, state in a static array.
 * sizes: small steps=30 | large steps=300000
 * types: fixed
 */
#include <stdint.h>
#include "kernels.h"

#define LANES 512

static uint32_t state[LANES];

void kernel_xorshift_lanes(int steps, uint32_t sum[LANES])
{
    int t, l;
#pragma scop
    for (t = 0; t < steps; t++)
        for (l = 0; l < LANES; l++) {
            state[l] ^= state[l] << 13;
            state[l] ^= state[l] >> 17;
            state[l] ^= state[l] << 5;
            sum[l] += state[l] & 0xffffu;
        }
#pragma endscop
}

#ifdef DRIVER
#include "anytype.h"
int main(int argc, char **argv)
{
    int steps = size_arg(argc, argv, 1, 30);
    uint32_t *sum = MAKE(uint32_t, LANES);

    FILL_WITH(state, LANES, 1, u | 1u);
    TIMED(kernel_xorshift_lanes(steps, sum));
    CHECKSUM_OF("sum", sum, LANES);
    CHECKSUM_OF("state", state, LANES);
    free(sum);
    return 0;
}
#endif
