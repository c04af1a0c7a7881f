/* Lines, maps and pictures. */
#include <stdio.h>

#include "flow.h"

enum { MAP_WIDTH = 64, MAP_HEIGHT = 20 };

void output_line(int step, const flow_t *f, const figures_t *s)
{
    printf("%5d  t %.4f  dt %.2e  kinetic %.6e  enstrophy %.4e  heat %+.5f  T %.3f..%.3f  |u| %.4f %.4f  div %.2e\n",
           step, f->time, f->dt, s->kinetic, s->enstrophy, s->heat, s->t_min, s->t_max, s->u_max, s->v_max,
           s->divergence);
}

static void range(const flow_t *f, const double *field, double *low, double *high)
{
    int i, j, w = f->nx + 2;
    double lo = field[w + 1], hi = field[w + 1];

    for (j = 1; j <= f->ny; j++)
        for (i = 1; i <= f->nx; i++) {
            if (field[j * w + i] < lo)
                lo = field[j * w + i];
            if (field[j * w + i] > hi)
                hi = field[j * w + i];
        }
    *low = lo;
    *high = hi > lo ? hi : lo + 1;
}

/* A map of letters, obstacles as #. */
void output_map(const flow_t *f, const double *field, const char *title)
{
    static const char levels[] = " .:-=+*%@";
    int w = f->nx + 2, row, col;
    double low, high;

    range(f, field, &low, &high);
    printf("%s, %.4g to %.4g\n", title, low, high);
    for (row = MAP_HEIGHT - 1; row >= 0; row--) {
        char line[MAP_WIDTH + 1];
        int j = 1 + row * f->ny / MAP_HEIGHT;

        for (col = 0; col < MAP_WIDTH; col++) {
            int i = 1 + col * f->nx / MAP_WIDTH;
            double part = (field[j * w + i] - low) / (high - low);

            line[col] = f->solid[j * w + i] ? '#' : levels[(int)(part * 8.999)];
        }
        line[MAP_WIDTH] = 0;
        printf("  |%s|\n", line);
    }
}

void output_profile(const char *title, const double *values, int n, int every)
{
    int k;

    printf("%s:", title);
    for (k = 0; k < n; k += every)
        printf(" %+.4f", values[k]);
    printf("\n");
}

/* A gray picture (PGM), the first row at the top. */
int output_picture(const flow_t *f, const double *field, const char *name)
{
    FILE *out = fopen(name, "wb");
    int i, j, w = f->nx + 2, failed;
    double low, high;

    if (!out) {
        perror(name);
        return -1;
    }
    range(f, field, &low, &high);
    fprintf(out, "P5\n%d %d\n255\n", f->nx, f->ny);
    for (j = f->ny; j >= 1; j--)
        for (i = 1; i <= f->nx; i++)
            putc((int)(255 * (field[j * w + i] - low) / (high - low)), out);
    failed = ferror(out);
    if (fclose(out) != 0 || failed) {
        perror(name);
        return -1;
    }
    return 0;
}
