/* The clock of the corpus kernels, linked with --wrap=timespec_get: processor time for one thread when $BENCH_BUSY says
 * that other programs run as well, else the wall clock. */
#include <stdlib.h>
#include <time.h>

int __wrap_timespec_get(struct timespec *t, int base);

int __wrap_timespec_get(struct timespec *t, int base)
{
    const char *busy = getenv("BENCH_BUSY"), *threads = getenv("OMP_NUM_THREADS");
    int own = busy && atoi(busy) > 0 && threads && atoi(threads) == 1;
    return clock_gettime(own ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, t) ? 0 : base;
}
