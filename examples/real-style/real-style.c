/* Runs every function of the folder on numbers of its own, and prints one line for each: its name and a sum. */
#include "../app.h"
#include "audio.h"
#include "cfd.h"
#include "image.h"
#include "indirect.h"
#include "lattice.h"
#include "nn.h"
#include "seismic.h"
#include "stats.h"

enum { SIDE = 40, MANY = 1 << 17 };

static float *floats(int n)
{
    float *a = make_array((size_t)n, sizeof(float));
    for (int i = 0; i < n; i++)
        a[i] = (float)(uniform() + 0.25);
    return a;
}

static double *doubles(int n)
{
    double *a = make_array((size_t)n, sizeof(double));
    for (int i = 0; i < n; i++)
        a[i] = uniform() + 0.25;
    return a;
}

static int *ints(int n, int below)
{
    int *a = make_array((size_t)n, sizeof(int));
    for (int i = 0; i < n; i++)
        a[i] = (int)(below * uniform());
    return a;
}

static unsigned char *bytes(int n, int below)
{
    unsigned char *a = make_array((size_t)n, 1);
    for (int i = 0; i < n; i++)
        a[i] = (unsigned char)(below * uniform());
    return a;
}

static float **grid(int rows, int cols)
{
    float **a = make_array((size_t)rows, sizeof(float *));
    for (int i = 0; i < rows; i++)
        a[i] = floats(cols);
    return a;
}

/* Sums that also tell where a value stands. */
#define SUM(name, a, n)                                    \
    do {                                                   \
        double sum_ = 0;                                   \
        for (int i_ = 0; i_ < (n); i_++)                   \
            sum_ += (double)(a)[i_] * (1 + i_ % 7);        \
        printf("%-24s %.17g\n", name, sum_);               \
    } while (0)

static void sum_grid(const char *name, float **a, int rows, int cols)
{
    double sum = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            sum += (double)a[i][j] * (1 + (i + j) % 7);
    printf("%-24s %.17g\n", name, sum);
}

static void run_image(void)
{
    planes small = {20, 15, 3, floats(20 * 15 * 3)}, big = {33, 29, 3, floats(33 * 29 * 3)};
    gray8 in = {50, 41, 64, bytes(64 * 41, 256)}, out = {50, 41, 56, bytes(56 * 41, 256)};
    float *rows = floats(50 * 41), *columns = floats(50 * 41), *taps = floats(5);
    unsigned counts[16];
    rgba *over = (rgba *)bytes(4 * 60 * 44, 256), *under = (rgba *)bytes(4 * 60 * 44, 256);
    planes_embed(small, big, -5, 17);
    SUM("planes_embed", big.data, 33 * 29 * 3);
    gray_blur3(&in, &out);
    SUM("gray_blur3", out.bits, 56 * 41);
    gray_filter_rows(&in, rows, taps, 2);
    SUM("gray_filter_rows", rows, 50 * 41);
    filter_columns(50, 41, rows, columns, taps, 2);
    SUM("filter_columns", columns, 50 * 41);
    gray_levels(&in, counts);
    SUM("gray_levels", counts, 16);
    gray_despeckle(&in, &out, 100);
    SUM("gray_despeckle", out.bits, 56 * 41);
    planes_flip(big);
    SUM("planes_flip", big.data, 33 * 29 * 3);
    for (int mode = BLEND_COPY; mode <= BLEND_MULTIPLY; mode++) {
        rgba_blend(44, 60, over, under, mode == BLEND_COPY ? BLEND_ADD : mode);
        SUM("rgba_blend", (unsigned char *)under, 4 * 60 * 44);
    }
    unsigned *sums = make_array(51 * 42, sizeof(unsigned));
    integral_image(&in, sums);
    SUM("integral_image", sums, 51 * 42);
    float *smooth = floats(50 * 41);
    blur5(50, 41, columns, rows, smooth);
    SUM("blur5", smooth, 50 * 41);
    rgba_halve(over, under, 30, 22);
    SUM("rgba_halve", (unsigned char *)under, 4 * 30 * 22);
}

static void run_nn(void)
{
    enum { B = 3, T = 9, C = 24, OC = 17, NH = 4, H = 11, W = 13 };
    float *x = floats(MANY), *y = floats(MANY), *w = floats(MANY), *bias = floats(MANY), *m = floats(MANY), *v = floats(MANY);
    layer l = {.batch = 2, .outputs = 5, .c = 5, .out_h = H, .out_w = W, .output = y, .delta = w, .bias_updates = v,
               .mean = m, .variance = v, .indexes = ints(2 * 5 * H * W, 1)};
    layernorm_rows(y, m, v, x, w, bias, B, T, C);
    SUM("layernorm_rows", y, B * T * C);
    linear_forward(y, x, w, bias, B, T, C, OC);
    SUM("linear_forward", y, B * T * OC);
    linear_forward(y, x, w, NULL, B, T, C, OC);
    SUM("linear_forward", y, B * T * OC);
    attention_scores(y, x, B, T, C, NH);
    SUM("attention_scores", y, B * NH * T * T);
    softmax_rows(y, x, B, T, 70);
    SUM("softmax_rows", y, B * T * 70);
    maxpool_forward(l, x);
    SUM("maxpool_forward", l.output, 2 * 5 * H * W);
    SUM("maxpool_forward", l.indexes, 2 * 5 * H * W);
    im2col(x, 3, H, W, 3, 1, y);
    SUM("im2col", y, 3 * 9 * H * W);
    batchnorm_forward(l, x);
    SUM("batchnorm_forward", y, 2 * 5 * H * W);
    bias_backward(l);
    SUM("bias_backward", v, 5);
    adamw_update(x, w, m, v, 5000, 0.01f, 0.9f, 0.99f, 1e-8f, 0.1f);
    SUM("adamw_update", x, 5000);
}

static void run_cfd(void)
{
    int x_min = 1, x_max = 30, y_min = 1, y_max = 25, cells = PROBLEM_SIZE * PROBLEM_SIZE * PROBLEM_SIZE * 5;
    double *a = doubles(MANY), *b = doubles(MANY), *c = doubles(MANY), *d = doubles(MANY), *e = doubles(MANY);
    double *f = doubles(MANY);
    grid_points[0] = grid_points[1] = 20;
    grid_points[2] = 23;
    for (int l = 0; l < LEVELS; l++)
        dims[l][0] = dims[l][1] = (SIDE >> l) + 1;
    memcpy(u, a, (size_t)cells * sizeof(double));
    memcpy(rhs, b, (size_t)cells * sizeof(double));
    ideal_gas(&x_min, &x_max, &y_min, &y_max, a, b, c, d);
    SUM("ideal_gas", d, 35 * 30);
    flux_calc(x_min, x_max, y_min, y_max, 0.1, a, b, c, d);
    SUM("flux_calc", d, 36 * 31);
    halo_left_right(x_min, x_max, y_min, y_max, 2, d);
    SUM("halo_left_right", d, 36 * 31);
    accelerate(x_min, x_max, y_min, y_max, 0.1, a, b, c, d, e, f);
    SUM("accelerate", f, 36 * 31);
    compute_rhs_x(0.3, 0.05);
    SUM("compute_rhs_x", &rhs[0][0][0][0], cells);
    add();
    SUM("add", &u[0][0][0][0], cells);
    relax_level(1, a, b, 0.8);
    SUM("relax_level", a, 21 * 21);
    for (int i = 0; i < 50 * 30; i++)
        c[i] += 3;
    line_solve(50, 30, a, c, b, d);
    SUM("line_solve", d, 50 * 30);
    for (int i = 0; i < 60 * 5; i++)
        e[25 * (i / 5) + 6 * (i % 5)] += 6;
    block_lu(60, (double(*)[5][5])e, (double(*)[5])f);
    SUM("block_lu", f, 60 * 5);
    float *temp = floats(37 * 43), *power = floats(37 * 43), *result = floats(37 * 43);
    plate_step(37, 43, temp, power, result, 0.1f, 0.2f, 0.3f, 0.05f, 0.8f);
    SUM("plate_step", result, 37 * 43);
}

static void run_lattice(void)
{
    t_param p = {31, 22, 1, 0.1f, 0.005f, 1.7f};
    int n = p.nx * p.ny;
    float *f = floats(n * NSPEEDS), *g = floats(n * NSPEEDS), *rho = floats(n);
    t_speed *cells = (t_speed *)f, *tmp = (t_speed *)g;
    int *obstacles = ints(n, 2), *energy = ints(p.nx, 1);
    double *now_ = doubles(n), *next = doubles(n);
    unsigned char *old_board = bytes(n, 2), *board = bytes(n, 2);
    signed char *spin = (signed char *)bytes(p.ny * p.ny, 2);
    lattice_accelerate(p, cells, obstacles);
    SUM("lattice_accelerate", f, n * NSPEEDS);
    lattice_propagate(p, cells, tmp);
    SUM("lattice_propagate", g, n * NSPEEDS);
    lattice_rebound(p, cells, tmp, obstacles);
    SUM("lattice_rebound", f, n * NSPEEDS);
    lattice_collide(p, cells, tmp, obstacles);
    SUM("lattice_collide", f, n * NSPEEDS);
    lattice_density(&p, cells, rho);
    SUM("lattice_density", rho, n);
    lattice_heat_step(p.nx, p.ny, now_, next, 0.2);
    SUM("lattice_heat_step", next, n);
    lattice_spin_energy(p.ny, spin, energy);
    SUM("lattice_spin_energy", energy, p.ny);
    lattice_life(p.ny, p.nx, old_board, board);
    SUM("lattice_life", board, n);
    lattice_springs(n / 2, (vec2 *)now_, (vec2 *)next, 3.0);
    SUM("lattice_springs", next, n);
}

static void run_seismic(void)
{
    enum { NX = 37, NZ = 45, NT = 6 };
    survey s = {NX, NZ, 8, 10.0f, 12.0f, 0.01f};
    float **a = grid(NX, NZ), **b = grid(NX, NZ), **c = grid(NX, NZ), **d = grid(NX, NZ);
    float **big = grid(NX + 16, NZ + 16), *wavelet = floats(NT), *taper = floats(NX);
    float **src[NT], **rec[NT];
    const float coef[5] = {-2.847222f, 1.6f, -0.2f, 0.025397f, -0.001786f};
    for (int t = 0; t < NT; t++) {
        src[t] = grid(NX, NZ);
        rec[t] = grid(NX, NZ);
    }
    wave_step(a, b, c, NX, NZ, 0.1f);
    sum_grid("wave_step", a, NX, NZ);
    wave_march(a, b, c, NX, NZ, NT, wavelet, 5, 6);
    sum_grid("wave_march", b, NX, NZ);
    absorb_borders(a, taper, NX, NZ, 8);
    sum_grid("absorb_borders", a, NX, NZ);
    velocity_update(s, a, b, c, d);
    sum_grid("velocity_update", b, NX, NZ);
    pressure_update(&s, a, b, c, d);
    sum_grid("pressure_update", c, NX, NZ);
    laplace_order8(a, d, coef, NX, NZ, 0.01f);
    sum_grid("laplace_order8", a, NX, NZ);
    image_condition(a, b, src, rec, NT, NX, NZ);
    sum_grid("image_condition", b, NX, NZ);
    shot_march(s, NT, a, b, c, d, wavelet, 9, 4);
    sum_grid("shot_march", c, NX, NZ);
    smooth_model(b, d, NX, NZ, 3);
    sum_grid("smooth_model", b, NX, NZ);
    extend_model(big, d, s);
    sum_grid("extend_model", big, NX + 16, NZ + 16);
}

static void run_audio(void)
{
    enum { N = 700, TAPS = 21, FRAMES = 12, SIZE = 64, HOP = 16 };
    float *x = floats(MANY), *y = floats(MANY), *h = floats(SIZE), *left = floats(N), *right = floats(N);
    float *tracks[4] = {floats(N), floats(N), floats(N), floats(N)}, gain[4] = {0.5f, 0.25f, 0.125f, 1.0f};
    biquad q[3] = {{0.2f, 0.3f, 0.1f, -0.4f, 0.2f, 0, 0}, {0.5f, 0.1f, 0, -0.1f, 0.1f, 0, 0}, {1, 0, 0, 0, 0.5f, 0, 0}};
    short pcm[2 * N];
    int muted[4] = {0, 1, 0, 0};
    double r[30];
    for (int i = 0; i < 2 * N; i++)
        pcm[i] = (short)(1000 * x[i]);
    fir_block(x, y, N, h, TAPS);
    SUM("fir_block", y, N);
    biquad_bank(q, 3, x, y, N);
    SUM("biquad_bank", y, 3 * N);
    window_frames(x, y, FRAMES, SIZE, HOP, h);
    SUM("window_frames", y, FRAMES * SIZE);
    overlap_add(y, x, FRAMES, SIZE, HOP);
    SUM("overlap_add", x, (FRAMES - 1) * HOP + SIZE);
    decimate(x, y, N, 3, h, TAPS);
    SUM("decimate", y, N);
    split_stereo(pcm, left, right, N);
    SUM("split_stereo", right, N);
    mix_down(tracks, gain, muted, 4, y, N);
    SUM("mix_down", y, N);
    autocorrelate(x, N, 30, r);
    SUM("autocorrelate", r, 30);
}

static void run_stats(void)
{
    enum { N = 90, D = 14, K = 6 };
    table t = {N, D, D + 3, doubles(N * (D + 3))};
    double *x = doubles(N * D), *y = doubles(N * D), *mean = doubles(D), *variance = doubles(D), *cov = doubles(D * D);
    double *low = doubles(N), *high = doubles(N), *rows[N], *xtx[D];
    float *points = floats(N * D), *centers = floats(K * D), *cost = floats(N);
    int *label = ints(N, K), *size = ints(K, 1), *where = ints(N, 1);
    for (int i = 0; i < N; i++)
        rows[i] = x + i * D;
    for (int i = 0; i < D; i++)
        xtx[i] = cov + i * D;
    column_moments(&t, mean, variance);
    SUM("column_moments", variance, D);
    covariance(x, N, D, mean, cov);
    SUM("covariance", cov, D * D);
    kmeans_assign(points, centers, N, K, D, label, cost);
    SUM("kmeans_assign", label, N);
    kmeans_update(points, label, N, K, D, centers, size);
    SUM("kmeans_update", centers, K * D);
    moving_average(x, y, N * D, 12);
    SUM("moving_average", y, N * D);
    standardize(x, N, D, mean, variance);
    SUM("standardize", x, N * D);
    extremes(N, D, x, low, high, where);
    SUM("extremes", where, N);
    normal_equations(N, D, rows, y, xtx, mean);
    SUM("normal_equations", cov, D * D);
    exponential_smoothing(N, D, x, y, 0.3);
    SUM("exponential_smoothing", y, N * D);
}

static void run_indirect(void)
{
    enum { B = 3, T = 17, C = 24, V = 50, ROWS = 60, EACH = 7 };
    float *out = floats(B * T * C), *words = floats(V * C), *places = floats(T * C), *loss = floats(B * T);
    float *probs = floats(B * T * V), *dlogits = floats(B * T * V), *image = floats((SIDE + 2) * (SIDE + 2));
    float *warped = floats(SIDE * SIDE), *to_x = floats(SIDE * SIDE), *to_y = floats(SIDE * SIDE);
    int *token = ints(B * T, V), *start = ints(ROWS + 1, 1), *column = ints(ROWS * EACH, ROWS);
    unsigned char *src = bytes(SIDE * SIDE, 256), *dst = bytes(SIDE * SIDE, 1), *curve = bytes(256, 256);
    int(*count)[16] = make_array(SIDE, sizeof *count);
    double *x = doubles(ROWS), *y = doubles(ROWS), *b = doubles(ROWS), *rows = doubles(B * T * C), norm;
    sparse a = {ROWS, start, column, doubles(ROWS * EACH)};
    for (int i = 0; i < ROWS; i++)
        start[i + 1] = start[i] + i % (EACH + 1);
    embed(out, token, words, places, B, T, C);
    SUM("embed", out, B * T * C);
    embed_backward(words, places, out, token, B, T, C);
    SUM("embed_backward", words, V * C);
    cross_entropy(loss, probs, token, B, T, V);
    SUM("cross_entropy", loss, B * T);
    cross_entropy_backward(dlogits, probs, token, 0.5f, B * T, V);
    SUM("cross_entropy_backward", dlogits, B * T * V);
    apply_curve(src, dst, SIDE, SIDE, SIDE, curve);
    SUM("apply_curve", dst, SIDE * SIDE);
    row_histograms(src, SIDE, SIDE, count);
    SUM("row_histograms", count[0], SIDE * 16);
    sparse_times_vector(&a, x, y);
    SUM("sparse_times_vector", y, ROWS);
    sparse_residual(&a, x, b, y, &norm);
    SUM("sparse_residual", y, ROWS);
    gather_rows(a.value, token, B, C / 8, rows);
    SUM("gather_rows", rows, B * C / 8);
    warp(image, warped, SIDE, SIDE, to_x, to_y);
    SUM("warp", warped, SIDE * SIDE);
}

int main(void)
{
    run_image();
    run_nn();
    run_cfd();
    run_lattice();
    run_seismic();
    run_audio();
    run_stats();
    run_indirect();
    return 0;
}
