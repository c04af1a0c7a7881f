/* Pictures: one plane of floats for each color, 0 to 1, row after row. */
#ifndef PHOTO_H
#define PHOTO_H

#include <stddef.h>

#define BINS 256

typedef struct {
    int w, h;
    float *r, *g, *b;
} photo;

typedef struct {
    int w, h;
    float *a;
} plane;

typedef struct {
    double mean[3], deviation[3];
    float least[3], most[3];
} tones;

typedef struct {
    int w, h;
    unsigned seed;
    const char *out; /* file for the result; none if empty */
    float noise;
    int radius; /* of the large blur */
} wishes;

/* memory.c */
int photo_open(photo *p, int w, int h);
void photo_close(photo *p);
int plane_open(plane *p, int w, int h);
void plane_close(plane *p);
void plane_copy(const plane *from, plane *to);
void plane_of(const photo *p, int channel, plane *out);
void plane_into(const plane *in, photo *p, int channel);

/* scene.c */
void scene_paint(photo *p, unsigned seed);
void scene_noise(photo *p, unsigned seed, float strength);

/* color.c */
void color_luma(const photo *p, plane *y);
void color_to_ycc(photo *p);
void color_to_rgb(photo *p);
void color_balance(photo *p);
void color_saturate(photo *p, float factor);
void color_gamma(photo *p, float exponent);
void color_clip(photo *p);

/* filter.c */
void filter_gauss(const plane *in, plane *tmp, plane *out, float sigma);
void filter_binomial(const plane *in, plane *tmp, plane *out);
void filter_box(const plane *in, plane *out, int radius, double *sums);
void filter_median(const plane *in, plane *out);
void filter_sobel(const plane *in, plane *dx, plane *dy, plane *size);
void filter_unsharp(const plane *in, const plane *soft, plane *out, float amount);
void filter_bilateral(const plane *in, plane *out, int radius, float space, float range);
void filter_kernel3(const plane *in, plane *out, const float k[3][3]);

/* shape.c */
void shape_halve(const plane *in, plane *out);
void shape_resize(const plane *in, plane *out);
void shape_rotate(const plane *in, plane *out, double angle);
void shape_turn(const plane *in, plane *out);
void shape_mirror(plane *p);
void shape_frame(plane *p, int border, float value);

/* morph.c */
void morph_threshold(const plane *in, unsigned char *mask, float least);
void morph_erode(int w, int h, const unsigned char *in, unsigned char *out);
void morph_dilate(int w, int h, const unsigned char *in, unsigned char *out);
void morph_distance(int w, int h, const unsigned char *mask, float *distance);
int morph_label(int w, int h, const unsigned char *mask, int *label);

/* tone.c */
void tone_histogram(const plane *p, long counts[BINS]);
float tone_quantile(const long counts[BINS], double part);
void tone_stretch(plane *p, float low, float high);
void tone_equalize(plane *p);
void tone_local(const plane *in, const plane *mean, plane *out, float strength);
tones tone_measure(const photo *p);

/* compare.c */
double compare_psnr(const plane *a, const plane *b);
double compare_ssim(const plane *a, const plane *b);
double compare_flow(const plane *a, const plane *b, int *dx, int *dy, int most);
double plane_sum(const plane *p);

/* files.c */
int write_ppm(const photo *p, const char *name);
int read_ppm(photo *p, const char *name);

#endif
