/* Figures about the water. Sums keep their order, so that all builds print the same. */
#include <stddef.h>

#include "wave.h"

struct measured basin_measure(const struct basin *b)
{
    const int nx = b->nx, ny = b->ny;
    const double *now = b->now, *before = b->before;
    struct measured m = {0.0, 0.0, now[0], now[0]};

    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            double h = now[y * nx + x], moved = h - before[y * nx + x];
            m.volume += h;
            m.energy += 0.5 * (h * h + moved * moved);
            if (h > m.highest)
                m.highest = h;
            if (h < m.lowest)
                m.lowest = h;
        }
    return m;
}

/* The mean height of every column, as one would write it down: columns outside, rows inside. */
void column_means(int nx, int ny, const double *height, double *mean)
{
    for (int x = 0; x < nx; x++) {
        mean[x] = 0.0;
        for (int y = 0; y < ny; y++)
            mean[x] += height[(size_t)y * nx + x];
        mean[x] /= ny;
    }
}

/* How much a signal is like itself some places on. */
void correlate(int n, int lags, const double *signal, double *out)
{
    for (int k = 0; k < lags; k++) {
        double sum = 0.0;
        for (int i = 0; i < n - k; i++)
            sum += signal[i] * signal[i + k];
        out[k] = sum;
    }
}
