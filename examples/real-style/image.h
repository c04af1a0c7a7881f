/* Images as programs keep them: planes of floats, bytes in padded rows, pixels in structs. */
#ifndef IMAGE_H
#define IMAGE_H

typedef struct {
    int w, h, c;
    float *data;
} planes;

typedef struct {
    int width, height, pitch;
    unsigned char *bits;
} gray8;

typedef struct {
    unsigned char r, g, b, a;
} rgba;

enum blend_mode { BLEND_COPY, BLEND_ADD, BLEND_MULTIPLY };

void planes_embed(planes source, planes dest, int dx, int dy);
void gray_blur3(const gray8 *in, gray8 *out);
void gray_filter_rows(const gray8 *in, float *out, const float *taps, int radius);
void filter_columns(int w, int h, const float *in, float *out, const float *taps, int radius);
void gray_levels(const gray8 *in, unsigned counts[16]);
void gray_despeckle(const gray8 *in, gray8 *out, int least);
void planes_flip(planes im);
void rgba_blend(int n_rows, int n_cols, const rgba *over, rgba *under, int mode);
void rgba_halve(const rgba *in, rgba *out, int w, int h);
void blur5(int w, int h, const float *in, float *tmp, float *out);
void integral_image(const gray8 *in, unsigned *sums);

#endif
