/* Shared by every kernel of this folder.
 *
 * The element type is `real`: double unless -DREAL=float|int|long|... says
 * otherwise.  With -DDRIVER each kernel file also gets a main(), built on the
 * helpers in the second half; without it nothing here but macros, the typedef
 * and <math.h> is visible.
 */
#ifndef KERNELS_H
#define KERNELS_H

#include <math.h>

#ifndef REAL
#define REAL double
#endif
typedef REAL real;

#define SQRT(x) ((real)sqrt((double)(x)))
#define EXP(x) ((real)exp((double)(x)))
#define POW(x, y) ((real)pow((double)(x), (double)(y)))

/* Both operands may be evaluated twice: pass expressions without effects. */
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif

#ifdef DRIVER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* 1 when `real` is an integer type, 0 when it is a floating one. */
#define REAL_IS_INTEGER ((real)0.5 == (real)0)

/* argv[k] as a non-negative number, or `fallback` when it is absent or is not
 * a number. */
static inline long size_arg(int argc, char **argv, int k, long fallback)
{
    if (k < 0 || k >= argc)
        return fallback;
    char *end;
    long v = strtol(argv[k], &end, 10);
    return end == argv[k] || *end != '\0' || v < 0 ? fallback : v;
}

/* Zeroed memory, never NULL (not even for 0 bytes). */
static inline void *make_array(size_t bytes)
{
    void *p = calloc(bytes ? bytes : 1, 1);
    if (!p) {
        fprintf(stderr, "out of memory: %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

/* Zeroed array of n elements of the element type. */
static inline real *make_reals(size_t n)
{
    return make_array(n * sizeof(real));
}

/* A well-mixed 32-bit number for position i of the stream `seed`. */
static inline unsigned mix(unsigned seed, size_t i)
{
    unsigned long long z = (unsigned long long)i + 0x9e3779b97f4a7c15ULL * (seed + 1ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (unsigned)(z >> 32);
}

/* Element i of the stream `seed`: 0.5 <= v < 1.5, or -8..8 for integers. */
static inline real sample(unsigned seed, size_t i)
{
    unsigned u = mix(seed, i);
    if (REAL_IS_INTEGER)
        return (real)((int)(u % 17) - 8);
    return (real)(0.5 + (double)(u >> 8) / 16777216.0);
}

static inline void fill(real *a, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        a[i] = sample(seed, i);
}

/* An n x n symmetric, strictly diagonally dominant (hence positive definite)
 * and well-conditioned matrix, row by row. */
static inline void fill_spd(real *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            a[i * n + j] = a[j * n + i] = sample(7, i * n + j);
        a[i * n + i] = (real)((REAL_IS_INTEGER ? 8.0 : 1.5) * (double)n + 1.0);
    }
}

/* "name sum hash": a position-weighted sum, and FNV-1a over the bytes. */
static inline void print_checksum(const char *name, const real *a, size_t n)
{
    double sum = 0.0;
    unsigned long long h = 0xcbf29ce484222325ULL;
    for (size_t i = 0; i < n; i++) {
        unsigned char b[sizeof(real)];
        memcpy(b, &a[i], sizeof b);
        for (size_t k = 0; k < sizeof b; k++)
            h = (h ^ b[k]) * 0x100000001b3ULL;
        sum += (double)a[i] * (double)(i % 1021 + 1);
    }
    printf("%s %.17g %016llx\n", name, sum, h);
}

/* Wall clock in seconds. */
static inline double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The time of a kernel call goes to stderr when the last argument is the word
 * `time` or the environment variable KERNEL_TIME is set. */
static inline void report_time(int argc, char **argv, double seconds)
{
    if (getenv("KERNEL_TIME") || (argc > 1 && strcmp(argv[argc - 1], "time") == 0))
        fprintf(stderr, "%.6f\n", seconds);
}

/* Run one call in a main(int argc, char **argv) and report its time:
 *     TIMED(kernel_gemm(ni, nj, nk, ...));  */
#define TIMED(...)                                  \
    do {                                            \
        double timed_start = now();                 \
        __VA_ARGS__;                                \
        report_time(argc, argv, now() - timed_start); \
    } while (0)

#endif /* DRIVER */
#endif /* KERNELS_H */
