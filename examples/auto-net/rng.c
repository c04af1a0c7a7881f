/* Random numbers that are the same everywhere. */
#include <math.h>

#include "net.h"

static unsigned long long state = 1;

void rng_seed(unsigned seed)
{
    state = 0x9e3779b97f4a7c15ULL ^ ((unsigned long long)seed << 17);
}

unsigned rng_next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (unsigned)((state * 0x2545f4914f6cdd1dULL) >> 32);
}

float rng_uniform(void)
{
    return (float)(rng_next() >> 8) / 16777216.0f;
}

/* Nearly normal: the sum of twelve. */
float rng_normal(void)
{
    float sum = 0;
    int k;

    for (k = 0; k < 12; k++)
        sum += rng_uniform();
    return sum - 6.0f;
}
