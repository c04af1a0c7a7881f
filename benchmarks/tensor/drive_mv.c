/* Generated matrix-vector products against cblas_?gemv and against reading the matrix. Cases: mv:M:N, mvr:M:N, mtv:M:N,
 * where mvr is mv generated with --reassociate. */
#include <cblas.h>
#include <float.h>

#include "bench.h"
#include "vector.h"

#ifdef SINGLE
typedef float real;
#define GEMV cblas_sgemv
#define EPS FLT_EPSILON
#else
typedef double real;
#define GEMV cblas_dgemv
#define EPS DBL_EPSILON
#endif

void mv(long m, long n, real y[m], real A[m][n], real x[n]);
void mvr(long m, long n, real y[m], real A[m][n], real x[n]);
void mtv(long m, long n, real y[n], real A[m][n], real x[m]);

static const char *name;
static long m, n, in, out; /* in, out: lengths of x and y */
static int transposed, reassociated;
static real *A, *x, *y, *z; /* z is the library's y */

static void ours(void)
{
    if (transposed)
        mtv(m, n, y, (void *)A, x);
    else if (reassociated)
        mvr(m, n, y, (void *)A, x);
    else
        mv(m, n, y, (void *)A, x);
}

static void theirs(void)
{
    GEMV(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, (int)m, (int)n, 1, A, (int)n, x, 1, 1, z, 1);
}

/* Reads the matrix once, in as many parts as there are threads. */
static void reading(void)
{
    const long vectors = m * n * (long)sizeof(real) / VEC_BYTES;
#pragma omp parallel
    {
        const long me = omp_get_thread_num(), team = omp_get_num_threads();
        read_vectors((const char *)A, vectors * me / team, vectors * (me + 1) / team);
    }
}

static void fill(int whole)
{
    for (long i = 0; i < m * n; i++)
        A[i] = whole ? (real)WHOLE(1, i) : (real)BROKEN(1, i);
    for (long i = 0; i < in; i++)
        x[i] = whole ? (real)WHOLE(2, i) : (real)BROKEN(2, i);
    for (long i = 0; i < out; i++)
        y[i] = z[i] = whole ? (real)WHOLE(3, i) : (real)BROKEN(3, i);
}

static const char *check(void)
{
    double *sums = allocate(sizeof(double) * (size_t)out);
    const char *wrong = NULL;
    for (int whole = 1; whole >= 0; whole--) {
        fill(whole);
        for (long i = 0; i < out; i++)
            sums[i] = (double)y[i];
        for (long i = 0; i < m; i++)
            for (long j = 0; j < n; j++)
                sums[transposed ? j : i] += (double)A[i * n + j] * (double)x[transposed ? i : j];
        ours();
        theirs();
        double allowed = whole ? 0 : tolerance((double)in + 1, EPS);
        for (long i = 0; i < out; i++)
            if (!(fabs((double)y[i] - sums[i]) <= allowed * fabs(sums[i])))
                wrong = "differs from the plain nest";
            else if (!(fabs((double)z[i] - sums[i]) <= allowed * fabs(sums[i])))
                wrong = "the library differs from the plain nest";
    }
    free(sums);
    return wrong;
}

static void measure(int threads)
{
    double best[3] = {0};
    openblas_set_num_threads(threads);
    const char *wrong = check();
    if (!wrong)
        race(3, (side *[]){ours, reading, theirs}, threads, best);
    print_case(name, threads, wrong, 3, best);
}

int main(int argc, char **argv)
{
    for (int a = 1; a < argc; a++) {
        char kind[4];
        if (sscanf(argv[a], "%3[a-z]:%ld:%ld", kind, &m, &n) != 3 || m < 1 || n < 1)
            return fprintf(stderr, "not a case: %s\n", argv[a]), 1;
        name = argv[a];
        transposed = strcmp(kind, "mtv") == 0;
        reassociated = strcmp(kind, "mvr") == 0;
        in = transposed ? m : n;
        out = transposed ? n : m;
        A = allocate(sizeof(real) * (size_t)(m * n));
        x = allocate(sizeof(real) * (size_t)in);
        y = allocate(sizeof(real) * (size_t)out);
        z = allocate(sizeof(real) * (size_t)out);
        for_threads(measure);
        free(A), free(x), free(y), free(z);
    }
    return 0;
}
