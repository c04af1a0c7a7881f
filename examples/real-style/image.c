#include "image.h"

#define PIXEL(im, x, y) ((im)->bits[(y) * (im)->pitch + (x)])
#define CLAMP(v, lo, hi) ((v) < (lo) ? (lo) : (v) > (hi) ? (hi) : (v))

static float get_pixel(planes m, int x, int y, int c)
{
    return m.data[c * m.h * m.w + y * m.w + x];
}

static void set_pixel(planes m, int x, int y, int c, float value)
{
    if (x < 0 || y < 0 || c < 0 || x >= m.w || y >= m.h || c >= m.c)
        return;
    m.data[c * m.h * m.w + y * m.w + x] = value;
}

/* Put one image into another; what falls outside is dropped by the setter. */
void planes_embed(planes source, planes dest, int dx, int dy)
{
    int x, y, k;
#pragma scop
    for (k = 0; k < source.c; ++k) {
        for (y = 0; y < source.h; ++y) {
            for (x = 0; x < source.w; ++x) {
                float val = get_pixel(source, x, y, k);
                set_pixel(dest, dx + x, dy + y, k, val);
            }
        }
    }
#pragma endscop
}

/* Mean of the neighbours that there are: four corners, four edges, the inside. */
void gray_blur3(const gray8 *in, gray8 *out)
{
    int w = in->width, h = in->height;
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int sum = PIXEL(in, x, y), n = 1;
            if (x > 0) {
                sum += PIXEL(in, x - 1, y);
                n++;
            }
            if (x < w - 1) {
                sum += PIXEL(in, x + 1, y);
                n++;
            }
            if (y > 0) {
                sum += PIXEL(in, x, y - 1);
                n++;
            }
            if (y < h - 1) {
                sum += PIXEL(in, x, y + 1);
                n++;
            }
            PIXEL(out, x, y) = (unsigned char)(sum / n);
        }
#pragma endscop
}

/* First pass of a separable filter: bytes to floats, columns repeated at the edges. */
void gray_filter_rows(const gray8 *in, float *out, const float *taps, int radius)
{
    int x, y, k;
#pragma scop
    for (y = 0; y < in->height; y++)
        for (x = 0; x < in->width; x++) {
            float acc = 0.0f;
            for (k = -radius; k <= radius; k++) {
                int xx = x + k;
                if (xx < 0)
                    xx = 0;
                if (xx > in->width - 1)
                    xx = in->width - 1;
                acc += taps[k + radius] * PIXEL(in, xx, y);
            }
            out[y * in->width + x] = acc;
        }
#pragma endscop
}

/* Second pass; rows repeated at the edges. */
void filter_columns(int w, int h, const float *in, float *out, const float *taps, int radius)
{
#pragma scop
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            float acc = 0.0f;
            for (int k = -radius; k <= radius; k++)
                acc += taps[k + radius] * in[CLAMP(y + k, 0, h - 1) * w + x];
            out[y * w + x] = acc;
        }
#pragma endscop
}

/* Sixteen levels of gray; how many pixels have each. */
void gray_levels(const gray8 *in, unsigned counts[16])
{
    int level, x, y;
#pragma scop
    for (level = 0; level < 16; level++) {
        counts[level] = 0;
        for (y = 0; y < in->height; y++) {
            const unsigned char *row = in->bits + y * in->pitch;
            for (x = 0; x < in->width; x++)
                if (row[x] >> 4 == level)
                    counts[level]++;
        }
    }
#pragma endscop
}

/* Dark pixels stay; bright ones become the smaller of their two neighbours. */
void gray_despeckle(const gray8 *in, gray8 *out, int least)
{
#pragma scop
    for (int y = 0; y < in->height; y++) {
        const unsigned char *src = &in->bits[y * in->pitch];
        unsigned char *dst = &out->bits[y * out->pitch];
        for (int x = 1; x < in->width - 1; x++) {
            dst[x] = src[x];
            if (src[x] < least)
                continue;
            unsigned char left = src[x - 1], right = src[x + 1];
            dst[x] = left < right ? left : right;
        }
    }
#pragma endscop
}

/* Left becomes right, in place. */
void planes_flip(planes im)
{
    int i, j, k;
#pragma scop
    for (k = 0; k < im.c; ++k) {
        for (i = 0; i < im.h; ++i) {
            for (j = 0; j < im.w / 2; ++j) {
                int index = j + im.w * (i + im.h * k);
                int flip = (im.w - j - 1) + im.w * (i + im.h * k);
                float swap = im.data[flip];
                im.data[flip] = im.data[index];
                im.data[index] = swap;
            }
        }
    }
#pragma endscop
}

void rgba_blend(int n_rows, int n_cols, const rgba *over, rgba *under, int mode)
{
    int i, j;
#pragma scop
    for (i = 0; i < n_rows; i++)
        for (j = 0; j < n_cols; j++) {
            const rgba *s = &over[i * n_cols + j];
            rgba *d = &under[i * n_cols + j];
            switch (mode) {
            case BLEND_ADD:
                d->r = (unsigned char)(d->r + s->r > 255 ? 255 : d->r + s->r);
                d->g = (unsigned char)(d->g + s->g > 255 ? 255 : d->g + s->g);
                d->b = (unsigned char)(d->b + s->b > 255 ? 255 : d->b + s->b);
                break;
            case BLEND_MULTIPLY:
                d->r = (unsigned char)(d->r * s->r / 255);
                d->g = (unsigned char)(d->g * s->g / 255);
                d->b = (unsigned char)(d->b * s->b / 255);
                break;
            default:
                d->r = s->r;
                d->g = s->g;
                d->b = s->b;
                break;
            }
        }
#pragma endscop
}

/* Half the size: each pixel the mean of four. The result is w pixels wide and h high. */
void rgba_halve(const rgba *in, rgba *out, int w, int h)
{
    int x, y;
#pragma scop
    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++) {
            const rgba *top = in + (2 * y) * (2 * w) + 2 * x, *low = in + (2 * y + 1) * (2 * w) + 2 * x;
            rgba *o = out + y * w + x;
            o->r = (unsigned char)((top[0].r + top[1].r + low[0].r + low[1].r + 2) >> 2);
            o->g = (unsigned char)((top[0].g + top[1].g + low[0].g + low[1].g + 2) >> 2);
            o->b = (unsigned char)((top[0].b + top[1].b + low[0].b + low[1].b + 2) >> 2);
            o->a = 255;
        }
#pragma endscop
}

/* Smooth with 1 4 6 4 1 along the rows, then along the columns; two pixels at every edge stay as they are. */
void blur5(int w, int h, const float *in, float *tmp, float *out)
{
    static const float taps[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    int x, y, k;
#pragma scop
    for (y = 0; y < h; y++)
        for (x = 2; x < w - 2; x++) {
            float s = 0;
            for (k = 0; k < 5; k++)
                s += taps[k] * in[y * w + x + k - 2];
            tmp[y * w + x] = s;
        }
    for (y = 2; y < h - 2; y++)
        for (x = 2; x < w - 2; x++) {
            float s = 0;
            for (k = 0; k < 5; k++)
                s += taps[k] * tmp[(y + k - 2) * w + x];
            out[y * w + x] = s;
        }
#pragma endscop
}

/* Sums of everything above and to the left; one row and one column of zeros in front. */
void integral_image(const gray8 *in, unsigned *sums)
{
    int x, y, w = in->width + 1;
#pragma scop
    for (x = 0; x < w; x++)
        sums[x] = 0;
    for (y = 0; y < in->height; y++) {
        unsigned row = 0;
        sums[(y + 1) * w] = 0;
        for (x = 0; x < in->width; x++) {
            row += PIXEL(in, x, y);
            sums[(y + 1) * w + x + 1] = sums[y * w + x + 1] + row;
        }
    }
#pragma endscop
}
