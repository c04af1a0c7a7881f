/* What the drivers share: data, alternating measurement, comparison of results.
 *
 * A driver gets thread counts in $BENCH_THREADS and cases as arguments, and prints one line per case and thread count:
 * its name, the threads, "ok" or what is wrong, and the best seconds per call of each side. */
#ifndef BENCH_H
#define BENCH_H

#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_SIDES 3
#define MAX_SAMPLES 200
#define SAMPLE_SECONDS 1.5e-3 /* calls are repeated until a sample is this long */
#define QUIET_SECONDS 20e-3   /* after which the idle workers of the other library sleep */

typedef void side(void);

static clockid_t used_clock = CLOCK_MONOTONIC;

static inline double now(void)
{
    struct timespec t;
    clock_gettime(used_clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double setting(const char *name, double fallback)
{
    const char *text = getenv(name);
    return text && *text ? atof(text) : fallback;
}

static inline void *allocate(size_t bytes)
{
    void *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!p) {
        fprintf(stderr, "out of memory: %zu bytes\n", bytes);
        exit(1);
    }
    memset(p, 0, bytes);
    return p;
}

/* A well-mixed number for position i of the stream `seed`. */
static inline uint64_t mix(uint64_t seed, size_t i)
{
    uint64_t z = i + 0x9e3779b97f4a7c15ULL * (seed + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

/* Whole numbers from -8 to 8: sums of their products are exact in every type and in any order. */
#define WHOLE(seed, i) ((int)(mix(seed, i) % 17) - 8)
/* Reals in [0.5, 1.5): nothing cancels, so the error of a sum is relative to the sum. */
#define BROKEN(seed, i) (0.5 + (double)(mix(seed, i) >> 11) * 0x1p-53)

/* Relative error allowed for sums of `terms` terms in any order: each rounding error is at most eps/2 of a sum of
 * positive terms, and independent ones add up like a random walk, to less than sqrt(terms) * eps/2; this is eight times
 * that, and still far less than one term of the sums compared here in f64. */
static inline double tolerance(double terms, double eps)
{
    return 4.0 * sqrt(terms) * eps;
}

static double clocked(side *f, long calls)
{
    double start = now();
    for (long c = 0; c < calls; c++)
        f();
    return (now() - start) / (double)calls;
}

static void rest(void)
{
    struct timespec t = {0, (long)(QUIET_SECONDS * 1e9)};
    nanosleep(&t, NULL);
}

/* Best seconds per call of every side, one sample of each in turn. With threads, a pause lets the workers of the side
 * before fall asleep (two libraries have two pools of them), and a short call wakes those of this side. */
static void race(int sides, side *const *run, int threads, double *best)
{
    long calls[MAX_SIDES];
    int least = (int)setting("BENCH_SAMPLES", 7);
    double spent = 0, budget = setting("BENCH_SECONDS", 0.4);
    for (int s = 0; s < sides; s++) {
        best[s] = clocked(run[s], 1); /* a long call is its first sample, as the check has warmed up */
        if (best[s] < QUIET_SECONDS)
            best[s] = clocked(run[s], 1);
        calls[s] = best[s] < SAMPLE_SECONDS ? (long)(SAMPLE_SECONDS / best[s]) + 1 : 1;
    }
    for (int r = 1; r < least || (r < MAX_SAMPLES && spent < budget); r++)
        for (int s = 0; s < sides; s++) {
            if (threads > 1) {
                rest();
                if (best[s] < QUIET_SECONDS)
                    run[s]();
            }
            double t = clocked(run[s], calls[s]);
            spent += t * (double)calls[s];
            best[s] = t < best[s] ? t : best[s];
        }
}

static void print_case(const char *name, int threads, const char *wrong, int sides, const double *best)
{
    printf("%s\t%d\t%s", name, threads, wrong ? wrong : "ok");
    for (int s = 0; s < sides; s++)
        printf("\t%.9g", best[s]);
    printf("\n");
    fflush(stdout);
}

/* Calls f(threads) for every number in $BENCH_THREADS. One thread is timed in processor time when $BENCH_BUSY says that
 * other programs run as well. */
static void for_threads(void (*f)(int threads))
{
    const char *text = getenv("BENCH_THREADS");
    for (char *end = (char *)(text ? text : "1"); *end;) {
        int threads = (int)strtol(end, &end, 10);
        if (threads < 1)
            break;
        omp_set_num_threads(threads);
        used_clock = threads == 1 && setting("BENCH_BUSY", 0) > 0 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
        f(threads);
        end += *end == ',';
    }
}

#endif
