/* One case for each function of examples/real-style; sizes are such that a run takes some 1 to 50 ms. */
#include "measure.h"

#include "audio.h"
#include "cfd.h"
#include "image.h"
#include "indirect.h"
#include "lattice.h"
#include "nn.h"
#include "seismic.h"
#include "stats.h"

/* Sizes that the functions read from globals of their library. */
void prepare(int library)
{
    int *points = symbol(library, "grid_points"), (*sizes)[3] = symbol(library, "dims");
    points[0] = points[1] = points[2] = PROBLEM_SIZE;
    for (int l = 0; l < LEVELS; l++)
        sizes[l][0] = sizes[l][1] = (2000 >> l) + 1;
}

static void run_planes_embed(void)
{
    planes s = {1000, 700, 3, floats(2100000)}, d = {1100, 800, 3, floats(2640000)};
    MEASURE(planes_embed, s, d, -5, 170);
}

static void run_gray_blur3(void)
{
    gray8 in = {1900, 1000, 1920, bytes(1920000, 256)}, out = {1900, 1000, 1904, bytes(1904000, 256)};
    MEASURE(gray_blur3, &in, &out);
}

static void run_gray_filter_rows(void)
{
    gray8 in = {1900, 1000, 1920, bytes(1920000, 256)};
    float *out = floats(1900000), *taps = floats(9);
    MEASURE(gray_filter_rows, &in, out, taps, 4);
}

static void run_filter_columns(void)
{
    float *in = floats(1000000), *out = floats(1000000), *taps = floats(9);
    MEASURE(filter_columns, 1000, 1000, in, out, taps, 4);
}

static void run_gray_levels(void)
{
    gray8 in = {1000, 500, 1024, bytes(512000, 256)};
    unsigned *counts = (unsigned *)ints(16, 1);
    MEASURE(gray_levels, &in, counts);
}

static void run_gray_despeckle(void)
{
    gray8 in = {4000, 3000, 4096, bytes(12288000, 256)}, out = {4000, 3000, 4000, bytes(12000000, 256)};
    MEASURE(gray_despeckle, &in, &out, 100);
}

static void run_planes_flip(void)
{
    planes im = {1000, 900, 3, floats(2700000)};
    MEASURE(planes_flip, im);
}

static void run_rgba_blend(void)
{
    rgba *a = (rgba *)bytes(4000000, 256), *b = (rgba *)bytes(4000000, 256);
    MEASURE(rgba_blend, 1000, 1000, a, b, BLEND_MULTIPLY);
}

static void run_rgba_halve(void)
{
    rgba *a = (rgba *)bytes(16000000, 256), *b = (rgba *)bytes(4000000, 256);
    MEASURE(rgba_halve, a, b, 1000, 1000);
}

static void run_blur5(void)
{
    float *in = floats(2000000), *tmp = floats(2000000), *out = floats(2000000);
    MEASURE(blur5, 2000, 1000, in, tmp, out);
}

static void run_integral_image(void)
{
    gray8 in = {2000, 1500, 2048, bytes(3072000, 256)};
    unsigned *sums = (unsigned *)ints(2001 * 1501, 1);
    MEASURE(integral_image, &in, sums);
}

static void run_layernorm_rows(void)
{
    float *o = floats(1572864), *i = floats(1572864), *m = floats(2048), *r = floats(2048), *w = floats(768), *b =
        floats(768);
    MEASURE(layernorm_rows, o, m, r, i, w, b, 8, 256, 768);
}

static void run_linear_forward(void)
{
    float *o = floats(98304), *i = floats(98304), *w = floats(147456), *b = floats(384);
    MEASURE(linear_forward, o, i, w, b, 4, 64, 384, 384);
}

static void run_attention_scores(void)
{
    float *a = floats(524288), *q = floats(589824);
    MEASURE(attention_scores, a, q, 2, 128, 384, 6);
}

static void run_softmax_rows(void)
{
    float *p = floats(804112), *l = floats(804112);
    MEASURE(softmax_rows, p, l, 2, 8, 50257);
}

static void run_maxpool_forward(void)
{
    layer l = {.batch = 2, .c = 32, .out_h = 100, .out_w = 110, .output = floats(704000), .indexes = ints(704000,
        1)};
    float *in = floats(2816000);
    MEASURE(maxpool_forward, l, in);
}

static void run_im2col(void)
{
    float *im = floats(307200), *col = floats(2764800);
    MEASURE(im2col, im, 12, 160, 160, 3, 1, col);
}

static void run_batchnorm_forward(void)
{
    layer l = {.batch = 4, .c = 32, .out_h = 100, .out_w = 100, .output = floats(1280000), .mean = floats(32),
        .variance = floats(32)};
    float *x = floats(1280000);
    MEASURE(batchnorm_forward, l, x);
}

static void run_bias_backward(void)
{
    layer l = {.batch = 4, .outputs = 32, .out_h = 100, .out_w = 100, .output = floats(1280000), .delta =
        floats(1280000), .bias_updates = floats(32)};
    MEASURE(bias_backward, l);
}

static void run_adamw_update(void)
{
    float *p = floats(1000000), *g = floats(1000000), *m = floats(1000000), *v = floats(1000000);
    MEASURE(adamw_update, p, g, m, v, 1000000, 0.01f, 0.9f, 0.99f, 1e-8f, 0.1f);
}

static void run_ideal_gas(void)
{
    int x0 = 1, x1 = 1000, y0 = 1, y1 = 900;
    double *a = doubles(910000), *b = doubles(910000), *c = doubles(910000), *d = doubles(910000);
    MEASURE(ideal_gas, &x0, &x1, &y0, &y1, a, b, c, d);
}

static void run_flux_calc(void)
{
    double *a = doubles(910000), *b = doubles(910000), *c = doubles(910000), *d = doubles(910000);
    MEASURE(flux_calc, 1, 1000, 1, 900, 0.1, a, b, c, d);
}

static void run_halo_left_right(void)
{
    double *a = doubles(8100000);
    MEASURE(halo_left_right, 1, 1000, 1, 8000, 2, a);
}

static void run_accelerate(void)
{
    double *a = doubles(910000), *b = doubles(910000), *c = doubles(910000), *d = doubles(910000), *e =
        doubles(910000), *f = doubles(910000);
    MEASURE(accelerate, 1, 1000, 1, 900, 0.1, a, b, c, d, e, f);
}

static void run_compute_rhs_x(void)
{
    MEASURE(compute_rhs_x, 0.3, 0.05);
}

static void run_add(void)
{
    MEASURE(add,);
}

static void run_relax_level(void)
{
    double *v = doubles(1002001), *r = doubles(1002001);
    MEASURE(relax_level, 1, v, r, 0.8);
}

static void run_line_solve(void)
{
    double *a = doubles(500000), *b = doubles(500000), *c = doubles(500000), *d = doubles(500000);
    MEASURE(line_solve, 1000, 500, a, b, c, d);
}

static void run_block_lu(void)
{
    double *a = doubles(500000), *b = doubles(100000);
    MEASURE(block_lu, 20000, (double(*)[5][5])a, (double(*)[5])b);
}

static void run_plate_step(void)
{
    float *t = floats(2000000), *p = floats(2000000), *r = floats(2000000);
    MEASURE(plate_step, 1000, 2000, t, p, r, 0.1f, 0.2f, 0.3f, 0.05f, 0.8f);
}

static void run_lattice_accelerate(void)
{
    t_param p = {200000, 3, 1, 0.1f, 0.005f, 1.7f};
    t_speed *c = (t_speed *)floats(5400000);
    int *o = ints(600000, 2);
    MEASURE(lattice_accelerate, p, c, o);
}

static void run_lattice_propagate(void)
{
    t_param p = {500, 400, 1, 0.1f, 0.005f, 1.7f};
    t_speed *c = (t_speed *)floats(1800000), *t = (t_speed *)floats(1800000);
    MEASURE(lattice_propagate, p, c, t);
}

static void run_lattice_rebound(void)
{
    t_param p = {500, 400, 1, 0.1f, 0.005f, 1.7f};
    t_speed *c = (t_speed *)floats(1800000), *t = (t_speed *)floats(1800000);
    int *o = ints(200000, 2);
    MEASURE(lattice_rebound, p, c, t, o);
}

static void run_lattice_collide(void)
{
    t_param p = {500, 400, 1, 0.1f, 0.005f, 1.7f};
    t_speed *c = (t_speed *)floats(1800000), *t = (t_speed *)floats(1800000);
    int *o = ints(200000, 2);
    MEASURE(lattice_collide, p, c, t, o);
}

static void run_lattice_density(void)
{
    t_param p = {500, 400, 1, 0.1f, 0.005f, 1.7f};
    t_speed *c = (t_speed *)floats(1800000);
    float *r = floats(200000);
    MEASURE(lattice_density, &p, c, r);
}

static void run_lattice_heat_step(void)
{
    double *a = doubles(1000000), *b = doubles(1000000);
    MEASURE(lattice_heat_step, 1000, 1000, a, b, 0.2);
}

static void run_lattice_spin_energy(void)
{
    signed char *s = (signed char *)bytes(4000000, 2);
    int *e = ints(2000, 1);
    MEASURE(lattice_spin_energy, 2000, s, e);
}

static void run_lattice_life(void)
{
    unsigned char *a = bytes(1000000, 2), *b = bytes(1000000, 2);
    MEASURE(lattice_life, 1000, 1000, a, b);
}

static void run_lattice_springs(void)
{
    vec2 *a = (vec2 *)doubles(2000000), *f = (vec2 *)doubles(2000000);
    MEASURE(lattice_springs, 1000000, a, f, 3.0);
}

static void run_wave_step(void)
{
    float **n = grid(1000, 1200), **o = grid(1000, 1200), **v = grid(1000, 1200);
    MEASURE(wave_step, n, o, v, 1000, 1200, 0.1f);
}

static void run_wave_march(void)
{
    float **n = grid(500, 600), **o = grid(500, 600), **v = grid(500, 600), *w = floats(20);
    MEASURE(wave_march, n, o, v, 500, 600, 20, w, 55, 66);
}

static void run_absorb_borders(void)
{
    float **p = grid(1500, 2000), *t = floats(2000);
    MEASURE(absorb_borders, p, t, 1500, 2000, 300);
}

static void run_velocity_update(void)
{
    survey s = {1000, 1200, 8, 10.0f, 12.0f, 0.01f};
    float **a = grid(1000, 1200), **b = grid(1000, 1200), **c = grid(1000, 1200), **d = grid(1000, 1200);
    MEASURE(velocity_update, s, a, b, c, d);
}

static void run_pressure_update(void)
{
    survey s = {1000, 1200, 8, 10.0f, 12.0f, 0.01f};
    float **a = grid(1000, 1200), **b = grid(1000, 1200), **c = grid(1000, 1200), **d = grid(1000, 1200);
    MEASURE(pressure_update, &s, a, b, c, d);
}

static void run_laplace_order8(void)
{
    float **a = grid(1000, 1200), **b = grid(1000, 1200), *c = floats(5);
    MEASURE(laplace_order8, a, b, c, 1000, 1200, 0.01f);
}

static void run_image_condition(void)
{
    enum { NT = 10 };
    float **s[NT], **r[NT], **i = grid(300, 400), **l = grid(300, 400);
    for (int t = 0; t < NT; t++)
        s[t] = grid(300, 400), r[t] = grid(300, 400);
    MEASURE(image_condition, i, l, s, r, NT, 300, 400);
}

static void run_smooth_model(void)
{
    float **a = grid(500, 600), **b = grid(500, 600);
    MEASURE(smooth_model, a, b, 500, 600, 3);
}

static void run_extend_model(void)
{
    survey s = {1000, 1200, 60, 10.0f, 12.0f, 0.01f};
    float **a = grid(1120, 1320), **b = grid(1000, 1200);
    MEASURE(extend_model, a, b, s);
}

static void run_shot_march(void)
{
    survey s = {500, 600, 8, 10.0f, 12.0f, 0.01f};
    float **a = grid(500, 600), **b = grid(500, 600), **c = grid(500, 600), **d = grid(500, 600), *w = floats(20);
    MEASURE(shot_march, s, 20, a, b, c, d, w, 55, 66);
}

static void run_fir_block(void)
{
    float *x = floats(200064), *y = floats(200000), *h = floats(64);
    MEASURE(fir_block, x, y, 200000, h, 64);
}

static void run_biquad_bank(void)
{
    biquad *q = (biquad *)floats(56);
    float *x = floats(100000), *y = floats(800000);
    for (int f = 0; f < 8; f++)
        q[f] = (biquad){0.2f, 0.3f, 0.1f, -0.4f, 0.2f, 0, 0};
    MEASURE(biquad_bank, q, 8, x, y, 100000);
}

static void run_window_frames(void)
{
    float *x = floats(1000000), *f = floats(4000000), *w = floats(1024);
    MEASURE(window_frames, x, f, 3900, 1024, 256, w);
}

static void run_overlap_add(void)
{
    float *f = floats(4000000), *y = floats(1000000);
    float *w = f;
    MEASURE(overlap_add, w, y, 3900, 1024, 256);
}

static void run_decimate(void)
{
    float *x = floats(400064), *y = floats(100000), *h = floats(64);
    MEASURE(decimate, x, y, 100000, 4, h, 64);
}

static void run_split_stereo(void)
{
    short *s = (short *)bytes(8000000, 256);
    float *l = floats(2000000), *r = floats(2000000);
    MEASURE(split_stereo, s, l, r, 2000000);
}

static void run_mix_down(void)
{
    float **t = grid(12, 500000), *g = floats(12), *y = floats(500000);
    int *m = ints(12, 2);
    MEASURE(mix_down, t, g, m, 12, y, 500000);
}

static void run_autocorrelate(void)
{
    float *x = floats(200000);
    double *r = doubles(30);
    MEASURE(autocorrelate, x, 200000, 30, r);
}

static void run_column_moments(void)
{
    table t = {20000, 100, 104, doubles(2080000)};
    double *m = doubles(100), *v = doubles(100);
    MEASURE(column_moments, &t, m, v);
}

static void run_covariance(void)
{
    double *x = doubles(500000), *m = doubles(100), *c = doubles(10000);
    MEASURE(covariance, x, 5000, 100, m, c);
}

static void run_kmeans_assign(void)
{
    float *p = floats(320000), *c = floats(640), *o = floats(20000);
    int *l = ints(20000, 1);
    MEASURE(kmeans_assign, p, c, 20000, 40, 16, l, o);
}

static void run_kmeans_update(void)
{
    float *p = floats(320000), *c = floats(320);
    int *l = ints(20000, 20), *s = ints(20, 1);
    MEASURE(kmeans_update, p, l, 20000, 20, 16, c, s);
}

static void run_moving_average(void)
{
    double *x = doubles(500000), *y = doubles(500000);
    MEASURE(moving_average, x, y, 500000, 24);
}

static void run_standardize(void)
{
    double *x = doubles(2000000), *m = doubles(100), *d = doubles(100);
    MEASURE(standardize, x, 20000, 100, m, d);
}

static void run_extremes(void)
{
    double *x = doubles(2000000), *l = doubles(20000), *h = doubles(20000);
    int *w = ints(20000, 1);
    MEASURE(extremes, 20000, 100, x, l, h, w);
}

static void run_normal_equations(void)
{
    double **x = (double **)doubles(5000), *all = doubles(500000), *y = doubles(5000), **q = (double
        **)doubles(100), *c = doubles(10000), *v = doubles(100);
    for (int i = 0; i < 5000; i++)
        x[i] = all + 100 * i;
    for (int i = 0; i < 100; i++)
        q[i] = c + 100 * i;
    MEASURE(normal_equations, 5000, 100, x, y, q, v);
}

static void run_embed(void)
{
    float *o = floats(1536000), *w = floats(768000), *q = floats(192000);
    int *t = ints(2000, 1000);
    MEASURE(embed, o, t, w, q, 8, 250, 768);
}

static void run_embed_backward(void)
{
    float *o = floats(1536000), *w = floats(768000), *q = floats(192000);
    int *t = ints(2000, 1000);
    MEASURE(embed_backward, w, q, o, t, 8, 250, 768);
}

static void run_cross_entropy(void)
{
    float *l = floats(20000), *q = floats(2000000);
    int *t = ints(20000, 100);
    MEASURE(cross_entropy, l, q, t, 20, 1000, 100);
}

static void run_cross_entropy_backward(void)
{
    float *d = floats(2000000), *q = floats(2000000);
    int *t = ints(20000, 100);
    MEASURE(cross_entropy_backward, d, q, t, 0.5f, 20000, 100);
}

static void run_apply_curve(void)
{
    unsigned char *s = bytes(4000000, 256), *d = bytes(4000000, 256), *c = bytes(256, 256);
    MEASURE(apply_curve, s, d, 1990, 2000, 2000, c);
}

static void run_row_histograms(void)
{
    unsigned char *s = bytes(4000000, 256);
    int *c = ints(32000, 1);
    MEASURE(row_histograms, s, 2000, 2000, (int(*)[16])c);
}

static void run_sparse_times_vector(void)
{
    sparse a = {100000, ints(100001, 1), ints(1000000, 100000), doubles(1000000)};
    double *x = doubles(100000), *y = doubles(100000);
    for (int i = 0; i < 100000; i++)
        a.start[i + 1] = a.start[i] + i % 20;
    MEASURE(sparse_times_vector, &a, x, y);
}

static void run_sparse_residual(void)
{
    sparse a = {100000, ints(100001, 1), ints(1000000, 100000), doubles(1000000)};
    double *x = doubles(100000), *b = doubles(100000), *r = doubles(100000), *n = doubles(1);
    for (int i = 0; i < 100000; i++)
        a.start[i + 1] = a.start[i] + i % 20;
    MEASURE(sparse_residual, &a, x, b, r, n);
}

static void run_gather_rows(void)
{
    double *f = doubles(1000000), *t = doubles(1000000);
    int *w = ints(20000, 20000);
    MEASURE(gather_rows, f, w, 20000, 50, t);
}

static void run_warp(void)
{
    float *s = floats(1010000), *d = floats(1000000), *x = floats(1000000), *y = floats(1000000);
    for (int i = 0; i < 1000000; i++)
        x[i] = (float)(i % 1000) * 0.99f, y[i] = (float)(i / 1000) * 0.99f;
    MEASURE(warp, s, d, 1000, 1000, x, y);
}

static void run_exponential_smoothing(void)
{
    double *x = doubles(2000000), *s = doubles(2000000);
    MEASURE(exponential_smoothing, 1000, 2000, x, s, 0.3);
}

const struct bench_case cases[] = {
    {"planes_embed", run_planes_embed},
    {"gray_blur3", run_gray_blur3},
    {"gray_filter_rows", run_gray_filter_rows},
    {"filter_columns", run_filter_columns},
    {"gray_levels", run_gray_levels},
    {"gray_despeckle", run_gray_despeckle},
    {"planes_flip", run_planes_flip},
    {"rgba_blend", run_rgba_blend},
    {"rgba_halve", run_rgba_halve},
    {"blur5", run_blur5},
    {"integral_image", run_integral_image},
    {"layernorm_rows", run_layernorm_rows},
    {"linear_forward", run_linear_forward},
    {"attention_scores", run_attention_scores},
    {"softmax_rows", run_softmax_rows},
    {"maxpool_forward", run_maxpool_forward},
    {"im2col", run_im2col},
    {"batchnorm_forward", run_batchnorm_forward},
    {"bias_backward", run_bias_backward},
    {"adamw_update", run_adamw_update},
    {"ideal_gas", run_ideal_gas},
    {"flux_calc", run_flux_calc},
    {"halo_left_right", run_halo_left_right},
    {"accelerate", run_accelerate},
    {"compute_rhs_x", run_compute_rhs_x},
    {"add", run_add},
    {"relax_level", run_relax_level},
    {"line_solve", run_line_solve},
    {"block_lu", run_block_lu},
    {"plate_step", run_plate_step},
    {"lattice_accelerate", run_lattice_accelerate},
    {"lattice_propagate", run_lattice_propagate},
    {"lattice_rebound", run_lattice_rebound},
    {"lattice_collide", run_lattice_collide},
    {"lattice_density", run_lattice_density},
    {"lattice_heat_step", run_lattice_heat_step},
    {"lattice_spin_energy", run_lattice_spin_energy},
    {"lattice_life", run_lattice_life},
    {"lattice_springs", run_lattice_springs},
    {"wave_step", run_wave_step},
    {"wave_march", run_wave_march},
    {"absorb_borders", run_absorb_borders},
    {"velocity_update", run_velocity_update},
    {"pressure_update", run_pressure_update},
    {"laplace_order8", run_laplace_order8},
    {"image_condition", run_image_condition},
    {"smooth_model", run_smooth_model},
    {"extend_model", run_extend_model},
    {"shot_march", run_shot_march},
    {"fir_block", run_fir_block},
    {"biquad_bank", run_biquad_bank},
    {"window_frames", run_window_frames},
    {"overlap_add", run_overlap_add},
    {"decimate", run_decimate},
    {"split_stereo", run_split_stereo},
    {"mix_down", run_mix_down},
    {"autocorrelate", run_autocorrelate},
    {"column_moments", run_column_moments},
    {"covariance", run_covariance},
    {"kmeans_assign", run_kmeans_assign},
    {"kmeans_update", run_kmeans_update},
    {"moving_average", run_moving_average},
    {"standardize", run_standardize},
    {"extremes", run_extremes},
    {"normal_equations", run_normal_equations},
    {"embed", run_embed},
    {"embed_backward", run_embed_backward},
    {"cross_entropy", run_cross_entropy},
    {"cross_entropy_backward", run_cross_entropy_backward},
    {"apply_curve", run_apply_curve},
    {"row_histograms", run_row_histograms},
    {"sparse_times_vector", run_sparse_times_vector},
    {"sparse_residual", run_sparse_residual},
    {"gather_rows", run_gather_rows},
    {"warp", run_warp},
    {"exponential_smoothing", run_exponential_smoothing},
    {0, 0},
};
