/* Generated contractions against the generated matrix product of equal shape. Cases: name:EXTENTS, the name being the
 * indices of C, A and B (abcd-aebf-dfce), the extents those of a, b, c, ... separated by commas. */
#include "bench.h"

#define MAX_INDICES 26
#define REFERENCE_ELEMENTS 4096

typedef void contraction(const long *extent, double *C, double *A, double *B);
#include "contraction_table.h" /* static const struct { const char *name; contraction *run; } table[]; */

void gemm_nn(long m, long n, long k, double C[m][n], double A[m][k], double B[k][n]);

static const char *name;
static contraction *run;
static char indices[3][MAX_INDICES + 1]; /* of C, A, B */
static long extent[MAX_INDICES], stride[3][MAX_INDICES], size[3];
static long m, n, k;
static double *array[3];

static void ours(void)
{
    run(extent, array[0], array[1], array[2]);
}

static void product(void)
{
    gemm_nn(m, n, k, (void *)array[0], (void *)array[1], (void *)array[2]);
}

static void shape(void)
{
    m = n = k = 1;
    for (int t = 0; t < 3; t++) {
        size[t] = 1;
        memset(stride[t], 0, sizeof stride[t]);
        for (size_t x = strlen(indices[t]); x-- > 0;) {
            stride[t][indices[t][x] - 'a'] = size[t];
            size[t] *= extent[indices[t][x] - 'a'];
        }
    }
    for (int x = 0; x < MAX_INDICES; x++)
        if (stride[1][x])
            *(stride[0][x] ? &m : &k) *= extent[x];
        else if (stride[2][x])
            n *= extent[x];
}

/* One element of C from its definition, whole numbers throughout. */
static double element(long at)
{
    long a = 0, b = 0;
    int summed[MAX_INDICES], depth = 0;
    for (int x = 0; x < MAX_INDICES; x++)
        if (stride[0][x]) {
            long i = at / stride[0][x] % extent[x];
            a += i * stride[1][x];
            b += i * stride[2][x];
        } else if (stride[1][x])
            summed[depth++] = x;
    double sum = WHOLE(0, at);
    for (long l = 0; l < k; l++) {
        long rest = l, i = a, j = b;
        for (int d = 0; d < depth; d++) {
            int x = summed[d];
            i += rest % extent[x] * stride[1][x];
            j += rest % extent[x] * stride[2][x];
            rest /= extent[x];
        }
        sum += array[1][i] * array[2][j];
    }
    return sum;
}

static const char *check(void)
{
    for (int t = 0; t < 3; t++)
        for (long i = 0; i < size[t]; i++)
            array[t][i] = WHOLE(t, i);
    ours();
    for (long e = 0; e < REFERENCE_ELEMENTS; e++) {
        long at = e < 2 ? e * (size[0] - 1) : (long)(mix(9, e) % (uint64_t)size[0]);
        if (array[0][at] != element(at))
            return "differs from the definition";
    }
    return NULL;
}

static void measure(int threads)
{
    double best[2] = {0};
    const char *wrong = check();
    if (!wrong)
        race(2, (side *[]){ours, product}, 1, best); /* one pool of workers, so no pauses */
    print_case(name, threads, wrong, 2, best);
}

static int parse(const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon || sscanf(text, "%26[a-z]-%26[a-z]-%26[a-z]", indices[0], indices[1], indices[2]) != 3)
        return 0;
    run = NULL;
    for (size_t r = 0; r < sizeof table / sizeof *table; r++)
        if (strlen(table[r].name) == (size_t)(colon - text) && strncmp(table[r].name, text, (size_t)(colon - text)) == 0)
            run = table[r].run;
    int x = 0;
    for (char *end = (char *)colon; *end && x < MAX_INDICES;)
        extent[x++] = strtol(end + 1, &end, 10);
    return run != NULL;
}

int main(int argc, char **argv)
{
    for (int a = 1; a < argc; a++) {
        if (!parse(argv[a]))
            return fprintf(stderr, "not a case: %s\n", argv[a]), 1;
        name = argv[a];
        shape();
        for (int t = 0; t < 3; t++)
            array[t] = allocate(sizeof(double) * (size_t)size[t]);
        for_threads(measure);
        for (int t = 0; t < 3; t++)
            free(array[t]);
    }
    return 0;
}
