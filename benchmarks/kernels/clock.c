/* Linked into every program of the kernel benchmark.
 *
 * --wrap=timespec_get: processor time for one thread when $BENCH_BUSY says that other programs run as well, else the
 * wall clock.
 * --wrap=calloc: memory is touched here, by all threads and in the same way for every program, so that no kernel pays
 * for its pages. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int __wrap_timespec_get(struct timespec *t, int base);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

int __wrap_timespec_get(struct timespec *t, int base)
{
    const char *busy = getenv("BENCH_BUSY"), *threads = getenv("OMP_NUM_THREADS");
    int own = busy && atoi(busy) > 0 && threads && atoi(threads) == 1;
    return clock_gettime(own ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, t) ? 0 : base;
}

void *__wrap_calloc(size_t count, size_t size)
{
    char *memory = __real_calloc(count, size);
    if (memory) {
        const long bytes = (long)(count * size), page = 4096;
        int threads = omp_get_num_procs();
#pragma omp parallel for schedule(static) num_threads(threads)
        for (long at = 0; at < bytes; at += page)
            memset(memory + at, 0, (size_t)(bytes - at < page ? bytes - at : page));
    }
    return memory;
}
