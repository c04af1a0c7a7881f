/* wave [SIZE [STEPS]]: a basin of SIZE x SIZE cells, STEPS steps; figures every tenth, the last line is the time. */
#include <stdio.h>

#include "../app.h"
#include "wave.h"

#define LAGS 6

static void say(int step, const struct basin *b)
{
    struct measured m = basin_measure(b);
    printf("step %4d: volume %.4f, energy %.4f, from %.5f to %.5f\n", step, m.volume, m.energy, m.lowest, m.highest);
}

static void say_signal(const struct basin *b)
{
    double *mean = make_array((size_t)b->nx, sizeof *mean), like[LAGS];

    column_means(b->nx, b->ny, b->now, mean);
    correlate(b->nx, LAGS, mean, like);
    for (int k = 0; k < LAGS; k++)
        printf("columns %d apart: %.5f\n", k, like[k]);
    free(mean);
}

static void say_picture(const struct picture *p)
{
    long counts[16];

    picture_histogram(p, counts);
    printf("picture:");
    for (int k = 0; k < 16; k++)
        printf(" %ld", counts[k]);
    printf("\n");
}

int main(int argc, char **argv)
{
    const int size = size_arg(argc, argv, 1, 800), steps = size_arg(argc, argv, 2, 60);
    struct basin b;
    struct picture p;

    if (size < 8) {
        fprintf(stderr, "%s: a basin has 8 x 8 cells at least\n", argv[0]);
        return 2;
    }
    basin_open(&b, size, size);
    picture_open(&p, size, size);
    basin_drop(&b, 0.3, 0.4, 0.04 * size, 1.0);
    basin_drop(&b, 0.7, 0.7, 0.02 * size, -0.6);
    double start = now();
    for (int step = 1; step <= steps; step++) {
        basin_step(&b, 0.5);
        basin_walls(&b);
        if (step % 10 == 0) {
            say(step, &b);
            picture_take(&p, &b);
        }
    }
    say_signal(&b);
    picture_take(&p, &b);
    say_picture(&p);
    printf("%.3f s\n", now() - start);
    picture_close(&p);
    basin_close(&b);
    return 0;
}
