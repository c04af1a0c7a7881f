/* Measuring functions of several libraries in turn, on the same data. */
#ifndef MEASURE_H
#define MEASURE_H

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_LIBRARIES = 8, MAX_ARRAYS = 64, LEAST_RUNS = 5 };
#define POOL ((size_t)1 << 30)

/* All data of a case lies in one piece of memory, which is brought back to its first state before each run. */
extern char *pool;
extern int n_libraries;
extern void *libraries[MAX_LIBRARIES];

struct bench_case {
    const char *name;
    void (*run)(void);
};
extern const struct bench_case cases[];
/* What a library needs once, before its functions are called. */
void prepare(int library);

float *floats(int n);
double *doubles(int n);
int *ints(int n, int below);
unsigned char *bytes(int n, int below);
float **grid(int rows, int cols);
void *symbol(int library, const char *name);
void begin(const char *name);
int again(void);
void restore(void);
void record(int library, double seconds);
void finish(void);
double now(void);

/* Each library's function of this name in turn, until enough was seen. */
#define MEASURE(name, ...)                                              \
    do {                                                                \
        begin(#name);                                                   \
        while (again())                                                 \
            for (int l_ = 0; l_ < n_libraries; l_++) {                  \
                __typeof__(&name) f_ = (__typeof__(&name))symbol(l_, #name); \
                restore();                                              \
                double start_ = now();                                  \
                f_(__VA_ARGS__);                                        \
                record(l_, now() - start_);                             \
            }                                                           \
        finish();                                                       \
    } while (0)

#endif
