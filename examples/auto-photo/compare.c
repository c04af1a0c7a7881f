/* How much two pictures are alike. */
#include <math.h>

#include "photo.h"

double plane_sum(const plane *p)
{
    int i, n = p->w * p->h;
    double sum = 0;

    for (i = 0; i < n; i++)
        sum += p->a[i] * (1 + i % 5);
    return sum;
}

double compare_psnr(const plane *a, const plane *b)
{
    int i, n = a->w * a->h;
    double sum = 0;

    for (i = 0; i < n; i++) {
        double d = (double)a->a[i] - b->a[i];
        sum += d * d;
    }
    return sum > 0 ? 10 * log10(n / sum) : 99.0;
}

/* Structural similarity of squares of eight by eight. */
double compare_ssim(const plane *a, const plane *b)
{
    double total = 0;
    int bx, by, x, y, w = a->w, count = 0;

    for (by = 0; by + 8 <= a->h; by += 8)
        for (bx = 0; bx + 8 <= w; bx += 8) {
            double ma = 0, mb = 0, va = 0, vb = 0, vab = 0;
            for (y = by; y < by + 8; y++)
                for (x = bx; x < bx + 8; x++) {
                    ma += a->a[y * w + x];
                    mb += b->a[y * w + x];
                }
            ma /= 64;
            mb /= 64;
            for (y = by; y < by + 8; y++)
                for (x = bx; x < bx + 8; x++) {
                    va += (a->a[y * w + x] - ma) * (a->a[y * w + x] - ma);
                    vb += (b->a[y * w + x] - mb) * (b->a[y * w + x] - mb);
                    vab += (a->a[y * w + x] - ma) * (b->a[y * w + x] - mb);
                }
            total += (2 * ma * mb + 1e-4) * (2 * vab / 64 + 9e-4)
                     / ((ma * ma + mb * mb + 1e-4) * ((va + vb) / 64 + 9e-4));
            count++;
        }
    return count ? total / count : 1.0;
}

/* The shift at which two pictures differ least. */
double compare_flow(const plane *a, const plane *b, int *dx, int *dy, int most)
{
    double best = 1e300;
    int sx, sy, x, y, w = a->w, h = a->h;

    for (sy = -most; sy <= most; sy++)
        for (sx = -most; sx <= most; sx++) {
            double sum = 0;
            for (y = most; y < h - most; y++)
                for (x = most; x < w - most; x++) {
                    double d = (double)a->a[y * w + x] - b->a[(y + sy) * w + x + sx];
                    sum += d * d;
                }
            if (sum < best) {
                best = sum;
                *dx = sx;
                *dy = sy;
            }
        }
    return best / ((double)(w - 2 * most) * (h - 2 * most));
}
