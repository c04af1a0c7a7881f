/* What the example programs share: sizes from the command line, memory, random numbers, a clock, and one line per
 * result. Nothing here has to do with tilewright. */
#ifndef APP_H
#define APP_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Argument k as a positive size, or `fallback` when there is none. */
static inline int size_arg(int argc, char **argv, int k, int fallback)
{
    if (k >= argc)
        return fallback;
    char *end;
    long size = strtol(argv[k], &end, 10);
    if (end == argv[k] || *end || size < 1 || size > 100000) {
        fprintf(stderr, "%s: a size from 1 to 100000 is needed, not `%s'\n", argv[0], argv[k]);
        exit(2);
    }
    return (int)size;
}

/* Zeroed memory for `count` elements. */
static inline void *make_array(size_t count, size_t size)
{
    void *p = calloc(count, size);
    if (!p) {
        fprintf(stderr, "out of memory: %zu elements of %zu bytes\n", count, size);
        exit(1);
    }
    return p;
}

/* The next of a fixed sequence of random numbers, 0 <= u < 1. */
static inline double uniform(void)
{
    static unsigned long long state = 42;
    unsigned long long z = state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Wall clock in seconds. */
static inline double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The larger of two errors; one that is not a number counts as larger. */
static inline double worse(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

/* Print the line of one result; 1 when it is wrong. */
static inline int report(const char *what, double seconds, double plain, double error, double allowed)
{
    int right = error <= allowed;
    printf("%-20s %9.3f ms, plain %9.3f ms (%.1f times as fast), error %.1e: %s\n", what, 1e3 * seconds,
           1e3 * plain, plain / seconds, error, right ? "ok" : "WRONG");
    return !right;
}

#endif
