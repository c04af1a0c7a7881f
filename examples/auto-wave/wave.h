/* Waves in a basin, seen from above, and what a camera makes of them. Ordinary C: nothing here knows of tilewright. */
#ifndef WAVE_H
#define WAVE_H

/* The water: heights of two steps, the depth below, and how much the shore takes away; rows of `nx` cells. */
struct basin {
    int nx, ny;
    double *now, *before, *depth, *damping;
};

/* A picture of the water, one byte a pixel, and room for the stages on the way to it. */
struct picture {
    int width, height;
    float *light, *blurred, *edges;
    unsigned char *pixels;
};

/* basin.c */
void basin_open(struct basin *b, int nx, int ny);
void basin_close(struct basin *b);
void basin_drop(struct basin *b, double x, double y, double radius, double height);

/* step.c */
void basin_step(struct basin *b, double courant);
void basin_walls(struct basin *b);

/* measure.c */
struct measured {
    double volume, energy, highest, lowest;
};
struct measured basin_measure(const struct basin *b);
void column_means(int nx, int ny, const double *height, double *mean);
void correlate(int n, int lags, const double *signal, double *out);

/* camera.c */
void picture_open(struct picture *p, int width, int height);
void picture_close(struct picture *p);
void picture_take(struct picture *p, const struct basin *b);
void picture_histogram(const struct picture *p, long counts[16]);

#endif
