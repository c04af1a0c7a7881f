/* Generated matrix products against cblas_?gemm. Cases: nn:M:N:K, tn:M:N:K, nt:M:N:K. */
#include <cblas.h>
#include <float.h>

#include "bench.h"

#ifdef SINGLE
typedef float real;
#define GEMM cblas_sgemm
#define EPS FLT_EPSILON
#else
typedef double real;
#define GEMM cblas_dgemm
#define EPS DBL_EPSILON
#endif
#define REFERENCE_ROWS 16

void gemm_nn(long m, long n, long k, real C[m][n], real A[m][k], real B[k][n]);
void gemm_tn(long m, long n, long k, real C[m][n], real A[k][m], real B[k][n]);
void gemm_nt(long m, long n, long k, real C[m][n], real A[m][k], real B[n][k]);

static const char *name;
static long m, n, k;
static int at, bt;
static real *A, *B, *C, *D; /* D is the library's C */

static void ours(void)
{
    if (at)
        gemm_tn(m, n, k, (void *)C, (void *)A, (void *)B);
    else if (bt)
        gemm_nt(m, n, k, (void *)C, (void *)A, (void *)B);
    else
        gemm_nn(m, n, k, (void *)C, (void *)A, (void *)B);
}

static void theirs(void)
{
    GEMM(CblasRowMajor, at ? CblasTrans : CblasNoTrans, bt ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, 1, A,
         (int)(at ? m : k), B, (int)(bt ? k : n), 1, D, (int)n);
}

static void fill(int whole)
{
    for (long i = 0; i < m * k; i++)
        A[i] = whole ? (real)WHOLE(1, i) : (real)BROKEN(1, i);
    for (long i = 0; i < k * n; i++)
        B[i] = whole ? (real)WHOLE(2, i) : (real)BROKEN(2, i);
    for (long i = 0; i < m * n; i++)
        C[i] = D[i] = whole ? (real)WHOLE(3, i) : (real)BROKEN(3, i);
}

/* Row i of the plain nest, on whole numbers. */
static int row_is_right(long i)
{
    for (long j = 0; j < n; j++) {
        double sum = WHOLE(3, i * n + j);
        for (long l = 0; l < k; l++)
            sum += (double)A[at ? l * m + i : i * k + l] * (double)B[bt ? j * k + l : l * n + j];
        if (C[i * n + j] != (real)sum)
            return 0;
    }
    return 1;
}

static const char *check(void)
{
    for (int whole = 1; whole >= 0; whole--) {
        double allowed = whole ? 0 : tolerance((double)k + 1, EPS);
        fill(whole);
        ours();
        theirs();
        for (long i = 0; i < m * n; i++)
            if (!(fabs((double)C[i] - (double)D[i]) <= allowed * fabs((double)D[i])))
                return "differs from the library";
        for (long r = 0; whole && r < REFERENCE_ROWS; r++)
            if (!row_is_right(r * (m - 1) / (REFERENCE_ROWS - 1)))
                return "differs from the plain nest";
    }
    return NULL;
}

static void measure(int threads)
{
    double best[2] = {0};
    openblas_set_num_threads(threads);
    const char *wrong = check();
    if (!wrong)
        race(2, (side *[]){ours, theirs}, threads, best);
    print_case(name, threads, wrong, 2, best);
}

int main(int argc, char **argv)
{
    fprintf(stderr, "%s\n", openblas_get_config());
    for (int a = 1; a < argc; a++) {
        char kind[3];
        if (sscanf(argv[a], "%2s:%ld:%ld:%ld", kind, &m, &n, &k) != 4 || m < 1 || n < 1 || k < 1)
            return fprintf(stderr, "not a case: %s\n", argv[a]), 1;
        name = argv[a];
        at = kind[0] == 't';
        bt = kind[1] == 't';
        A = allocate(sizeof(real) * (size_t)(m * k));
        B = allocate(sizeof(real) * (size_t)(k * n));
        C = allocate(sizeof(real) * (size_t)(m * n));
        D = allocate(sizeof(real) * (size_t)(m * n));
        for_threads(measure);
        free(A), free(B), free(C), free(D);
    }
    return 0;
}
