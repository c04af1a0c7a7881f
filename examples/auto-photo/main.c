/* photo [-s WIDTH HEIGHT] [-r SEED] [-n NOISE] [-b RADIUS] [-o FILE] [FILE]: develop a picture, painted or read, and
 * say what was done to it. Everything but the last line, which is the time, is the same in every run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "photo.h"

static double seconds(void)
{
    struct timespec t;

    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void need(int failed)
{
    if (failed) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
}

static void say(const char *what, const plane *p)
{
    printf("%-14s %5d x %-5d sum %.6e\n", what, p->w, p->h, plane_sum(p));
}

static void say_tones(const char *what, const photo *p)
{
    tones t = tone_measure(p);
    int k;

    printf("%-14s", what);
    for (k = 0; k < 3; k++)
        printf("  %.4f +- %.4f (%.3f..%.3f)", t.mean[k], t.deviation[k], t.least[k], t.most[k]);
    printf("\n");
}

/* Noise is taken away from each color. */
static void clean(photo *p)
{
    plane in, out, tmp;
    int k;

    need(plane_open(&in, p->w, p->h) || plane_open(&out, p->w, p->h) || plane_open(&tmp, p->w, p->h));
    for (k = 0; k < 3; k++) {
        plane_of(p, k, &in);
        filter_median(&in, &out);
        filter_bilateral(&out, &in, 2, 0.2f, 60.0f);
        plane_into(&in, p, k);
        say("cleaned", &in);
    }
    plane_close(&in);
    plane_close(&out);
    plane_close(&tmp);
}

/* Brightness alone is sharpened and stretched. */
static void develop(photo *p, int radius)
{
    static const float relief[3][3] = {{-1, -0.5f, 0}, {-0.5f, 1, 0.5f}, {0, 0.5f, 1}};
    plane y, soft, tmp, out;
    double *sums = malloc(sizeof(double) * (size_t)(p->w + 1) * (size_t)(p->h + 1));
    long counts[BINS];

    need(!sums || plane_open(&y, p->w, p->h) || plane_open(&soft, p->w, p->h) || plane_open(&tmp, p->w, p->h)
         || plane_open(&out, p->w, p->h));
    color_to_ycc(p);
    plane_of(p, 0, &y);
    filter_gauss(&y, &tmp, &soft, 2.2f);
    say("gauss", &soft);
    filter_unsharp(&y, &soft, &out, 0.8f);
    filter_binomial(&y, &tmp, &soft);
    printf("binomial: %.4f dB, similarity %.6f\n", compare_psnr(&y, &soft), compare_ssim(&y, &soft));
    filter_box(&out, &soft, radius, sums);
    say("box", &soft);
    tone_local(&out, &soft, &y, 0.4f);
    tone_histogram(&y, counts);
    tone_stretch(&y, tone_quantile(counts, 0.005), tone_quantile(counts, 0.995));
    plane_into(&y, p, 0);
    filter_kernel3(&y, &out, relief);
    say("relief", &out);
    color_to_rgb(p);
    free(sums);
    plane_close(&y);
    plane_close(&soft);
    plane_close(&tmp);
    plane_close(&out);
}

/* Edges, what they enclose, and where it is. */
static void look_for_parts(const photo *p)
{
    int w = p->w, h = p->h, parts, i, n = w * h;
    unsigned char *mask = calloc((size_t)n, 1), *other = calloc((size_t)n, 1);
    float *distance = calloc((size_t)n, sizeof(float)), far = 0;
    int *label = calloc((size_t)n, sizeof(int));
    plane y, dx, dy, size;
    long set = 0;

    need(!mask || !other || !distance || !label || plane_open(&y, w, h) || plane_open(&dx, w, h)
         || plane_open(&dy, w, h) || plane_open(&size, w, h));
    color_luma(p, &y);
    filter_sobel(&y, &dx, &dy, &size);
    say("edges", &size);
    morph_threshold(&size, mask, 0.25f);
    morph_dilate(w, h, mask, other);
    morph_dilate(w, h, other, mask);
    morph_erode(w, h, mask, other);
    for (i = 0; i < n; i++)
        set += other[i];
    morph_distance(w, h, other, distance);
    for (i = 0; i < n; i++)
        far = distance[i] > far ? distance[i] : far;
    parts = morph_label(w, h, other, label);
    printf("parts: %d, %ld pixels, at most %.0f deep\n", parts, set, far);
    free(mask);
    free(other);
    free(distance);
    free(label);
    plane_close(&y);
    plane_close(&dx);
    plane_close(&dy);
    plane_close(&size);
}

/* Small pictures, and how far the turned one is from the first. */
static void shapes(const photo *p)
{
    plane y, half, small, turned, rotated;
    int dx = 0, dy = 0;
    double off;

    need(plane_open(&y, p->w, p->h) || plane_open(&half, p->w / 2, p->h / 2)
         || plane_open(&small, p->w / 3, p->h / 3) || plane_open(&turned, p->h / 2, p->w / 2)
         || plane_open(&rotated, p->w / 2, p->h / 2));
    color_luma(p, &y);
    shape_halve(&y, &half);
    say("half", &half);
    shape_resize(&y, &small);
    say("small", &small);
    shape_turn(&half, &turned);
    shape_mirror(&turned);
    say("turned", &turned);
    shape_rotate(&half, &rotated, 0.01);
    shape_frame(&rotated, 4, 0.5f);
    off = compare_flow(&half, &rotated, &dx, &dy, 3);
    printf("rotated: best at %d %d, off by %.6e\n", dx, dy, off);
    tone_equalize(&half);
    say("equalized", &half);
    plane_close(&y);
    plane_close(&half);
    plane_close(&small);
    plane_close(&turned);
    plane_close(&rotated);
}

static int arguments(wishes *o, int argc, char **argv, const char **file)
{
    int k;

    for (k = 1; k < argc; k++) {
        int left = argc - k - 1;
        if (strcmp(argv[k], "-s") == 0 && left >= 2) {
            o->w = atoi(argv[++k]);
            o->h = atoi(argv[++k]);
        } else if (strcmp(argv[k], "-r") == 0 && left >= 1)
            o->seed = (unsigned)atoi(argv[++k]);
        else if (strcmp(argv[k], "-n") == 0 && left >= 1)
            o->noise = (float)atof(argv[++k]);
        else if (strcmp(argv[k], "-b") == 0 && left >= 1)
            o->radius = atoi(argv[++k]);
        else if (strcmp(argv[k], "-o") == 0 && left >= 1)
            o->out = argv[++k];
        else if (argv[k][0] != '-')
            *file = argv[k];
        else
            return -1;
    }
    return o->w < 16 || o->h < 16 || o->w > 20000 || o->h > 20000 || o->radius < 1 ? -1 : 0;
}

int main(int argc, char **argv)
{
    wishes o = {960, 640, 7, "", 0.08f, 12};
    const char *file = "";
    photo p;
    double start;

    if (arguments(&o, argc, argv, &file) != 0) {
        fprintf(stderr, "%s [-s WIDTH HEIGHT] [-r SEED] [-n NOISE] [-b RADIUS] [-o FILE] [FILE]\n", argv[0]);
        return 2;
    }
    if (file[0]) {
        if (read_ppm(&p, file) != 0)
            return 1;
    } else {
        need(photo_open(&p, o.w, o.h));
        scene_paint(&p, o.seed);
        scene_noise(&p, o.seed, o.noise);
    }
    say_tones("taken", &p);
    start = seconds();
    clean(&p);
    color_balance(&p);
    develop(&p, o.radius);
    color_saturate(&p, 1.15f);
    color_gamma(&p, 0.9f);
    color_clip(&p);
    say_tones("developed", &p);
    look_for_parts(&p);
    shapes(&p);
    start = seconds() - start;
    if (o.out[0] && write_ppm(&p, o.out) != 0)
        return 1;
    printf("%.3f s\n", start);
    photo_close(&p);
    return 0;
}
