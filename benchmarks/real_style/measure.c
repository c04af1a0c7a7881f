#include "measure.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

char *pool;
int n_libraries;
void *libraries[MAX_LIBRARIES];

static char *saved;
static size_t used;
static struct {
    char kind;
    size_t at, n;
} arrays[MAX_ARRAYS];
static int n_arrays, runs;
static double best[MAX_LIBRARIES], sums[MAX_LIBRARIES], deadline, seconds_each = 0.25;
static const char *current;

/* Time of the processor: everything runs in one thread, and other programs shall not count. */
double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double uniform(void)
{
    static unsigned long long state = 42;
    unsigned long long z = state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Memory for n elements; a line and a bit between arrays, so that equal sizes do not fall on the same sets. */
static void *take(char kind, size_t n, size_t size)
{
    size_t at = used;
    used = (used + n * size + 64 + 63) / 64 * 64;
    if (used > POOL) {
        fprintf(stderr, "%s needs more than the pool\n", current ? current : "a case");
        exit(1);
    }
    if (kind && n_arrays < MAX_ARRAYS) {
        arrays[n_arrays].kind = kind;
        arrays[n_arrays].at = at;
        arrays[n_arrays++].n = n;
    }
    return pool + at;
}

float *floats(int n)
{
    float *a = take('f', (size_t)n, sizeof *a);
    for (int i = 0; i < n; i++)
        a[i] = (float)(uniform() + 0.25);
    return a;
}

double *doubles(int n)
{
    double *a = take('d', (size_t)n, sizeof *a);
    for (int i = 0; i < n; i++)
        a[i] = uniform() + 0.25;
    return a;
}

int *ints(int n, int below)
{
    int *a = take('i', (size_t)n, sizeof *a);
    for (int i = 0; i < n; i++)
        a[i] = (int)(below * uniform());
    return a;
}

unsigned char *bytes(int n, int below)
{
    unsigned char *a = take('b', (size_t)n, 1);
    for (int i = 0; i < n; i++)
        a[i] = (unsigned char)(below * uniform());
    return a;
}

float **grid(int rows, int cols)
{
    float **a = take(0, (size_t)rows, sizeof *a), *all = floats(rows * cols);
    for (int i = 0; i < rows; i++)
        a[i] = all + (size_t)i * (size_t)cols;
    return a;
}

void *symbol(int library, const char *name)
{
    void *found = dlsym(libraries[library], name);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

void begin(const char *name)
{
    current = name;
    saved = realloc(saved, used + 1);
    if (!saved)
        exit(1);
    memcpy(saved, pool, used);
    runs = 0;
    for (int l = 0; l < n_libraries; l++)
        best[l] = 1e30;
    deadline = now() + seconds_each * n_libraries;
}

int again(void)
{
    return runs++ < LEAST_RUNS || now() < deadline;
}

void restore(void)
{
    memcpy(pool, saved, used);
}

static double element(int a, size_t i)
{
    const char *p = pool + arrays[a].at;
    switch (arrays[a].kind) {
    case 'f':
        return ((const float *)p)[i];
    case 'd':
        return ((const double *)p)[i];
    case 'i':
        return ((const int *)p)[i];
    default:
        return ((const unsigned char *)p)[i];
    }
}

void record(int library, double seconds)
{
    if (seconds < best[library])
        best[library] = seconds;
    if (runs > 1)
        return;
    double sum = 0;
    for (int a = 0; a < n_arrays; a++)
        for (size_t i = 0; i < arrays[a].n; i++)
            sum += element(a, i) * (double)(1 + (i + (size_t)a) % 7);
    sums[library] = sum;
}

/* One line: the name, then seconds and a sum of each library. */
void finish(void)
{
    printf("%s", current);
    for (int l = 0; l < n_libraries; l++)
        printf(" %.9f %.9e", best[l], sums[l]);
    printf("\n");
    fflush(stdout);
    used = 0;
    n_arrays = 0;
}

static int wanted(const char *name, const char *only)
{
    size_t n = strlen(name);
    for (const char *p = only; (p = strstr(p, name)); p += n)
        if ((p == only || p[-1] == ',') && (p[n] == ',' || !p[n]))
            return 1;
    return !*only;
}

/* measure SECONDS ONLY LIBRARY...: ONLY is a list of names with commas, or empty for all. */
int main(int argc, char **argv)
{
    if (argc < 4 || argc - 3 > MAX_LIBRARIES)
        return 2;
#if defined(__SSE__)
    _mm_setcsr(_mm_getcsr() | 0x8040); /* no denormal numbers: their cost would be measured instead */
#endif
    seconds_each = atof(argv[1]);
    pool = aligned_alloc(4096, POOL);
    if (!pool)
        return 1;
    for (n_libraries = 0; n_libraries < argc - 3; n_libraries++) {
        libraries[n_libraries] = dlopen(argv[3 + n_libraries], RTLD_NOW | RTLD_LOCAL);
        if (!libraries[n_libraries]) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        prepare(n_libraries);
    }
    for (const struct bench_case *c = cases; c->name; c++)
        if (wanted(c->name, argv[2]))
            c->run();
    return 0;
}
