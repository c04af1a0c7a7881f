/* Generated products of square matrices over other operations against a loop of the same two operations that lives in
 * registers. Compiled with one of SEMIRING, BITS, INTEGER; cases: name:N. */
#include "bench.h"
#include "vector.h"

#define REFERENCE_ROWS 32
#define ROUNDS 20000L /* of the register loop */

#if defined SEMIRING
#ifdef SINGLE
typedef float factor, sum;
#define FMIN fminf
#define FMAX fmaxf
#else
typedef double factor, sum;
#define FMIN fmin
#define FMAX fmax
#endif
#define OPS(X) X(min_plus, MIN, PLUS) X(max_plus, MAX, PLUS) X(max_times, MAX, TIMES) X(min_times, MIN, TIMES) \
    X(min_max, MIN, MAX) X(max_min, MAX, MIN)
#define RANDOM(seed, i) (sum)(BROKEN(seed, i) - 1)
#elif defined BITS
typedef WORD factor, sum;
#define OPS(X) X(or_and, OR, AND)
/* One bit in eight in each operand, so that the result is neither empty nor full for long. */
#define RANDOM(seed, i) (sum)(mix(seed, i) & mix(seed + 8, i) & mix(seed + 16, i))
#else
typedef FACTOR factor;
typedef SUM sum;
#define OPS(X) X(mul_add, PLUS, TIMES)
#define RANDOM(seed, i) (sum)WHOLE(seed, i)
#endif

typedef sum vec __attribute__((vector_size(VEC_BYTES)));

/* The operations on one element and on a vector of the host. */
#define ONE_PLUS(a, b) ((a) + (b))
#define ONE_TIMES(a, b) ((a) * (b))
#define ONE_OR(a, b) ((a) | (b))
#define ONE_AND(a, b) ((a) & (b))
#define ONE_MIN(a, b) FMIN(a, b)
#define ONE_MAX(a, b) FMAX(a, b)
#define VEC_PLUS(a, b) ((a) + (b))
#define VEC_TIMES(a, b) ((a) * (b))
#define VEC_OR(a, b) ((a) | (b))
#define VEC_AND(a, b) ((a) & (b))
#if defined __aarch64__ && defined SINGLE
#define VEC_MIN(a, b) vminnmq_f32(a, b)
#define VEC_MAX(a, b) vmaxnmq_f32(a, b)
#elif defined __aarch64__
#define VEC_MIN(a, b) vminnmq_f64(a, b)
#define VEC_MAX(a, b) vmaxnmq_f64(a, b)
#elif defined __AVX512F__ && defined SINGLE
#define VEC_MIN(a, b) _mm512_min_ps(a, b)
#define VEC_MAX(a, b) _mm512_max_ps(a, b)
#elif defined __AVX512F__
#define VEC_MIN(a, b) _mm512_min_pd(a, b)
#define VEC_MAX(a, b) _mm512_max_pd(a, b)
#elif defined SINGLE
#define VEC_MIN(a, b) _mm256_min_ps(a, b)
#define VEC_MAX(a, b) _mm256_max_ps(a, b)
#else
#define VEC_MIN(a, b) _mm256_min_pd(a, b)
#define VEC_MAX(a, b) _mm256_max_pd(a, b)
#endif

static const char *name;
static long n;
static factor *A, *B;
static sum *C;

/* The operands are not what they were for the compiler after KEEP, so it neither hoists nor shares a step; one KEEP per
 * step also keeps the steps in order, and their intermediate values in registers. */
#define DEFINE(op, outer, inner)                                                                     \
    void op(long, sum C[n][n], factor A[n][n], factor B[n][n]);                                      \
    static void run_##op(void) { op(n, (void *)C, (void *)A, (void *)B); }                           \
    static int right_##op(long i, const sum *row)                                                    \
    {                                                                                                \
        for (long j = 0; j < n; j++) {                                                               \
            sum s = row[j];                                                                          \
            for (long l = 0; l < n; l++)                                                             \
                s = (sum)ONE_##outer(s, ONE_##inner(A[i * n + l], B[l * n + j]));                    \
            if (C[i * n + j] != s)                                                                   \
                return 0;                                                                            \
        }                                                                                            \
        return 1;                                                                                    \
    }                                                                                                \
    static void bound_##op(void)                                                                     \
    {                                                                                                \
        _Pragma("omp parallel")                                                                      \
        {                                                                                            \
            vec s[VEC_SUMS] = {{0}}, a[4] = {{0}}, b[VEC_SUMS / 4] = {{0}};                          \
            for (long r = 0; r < ROUNDS; r++) {                                                      \
                for (int i = 0; i < VEC_SUMS / 4; i++)                                               \
                    KEEP(b[i]);                                                                      \
                for (int i = 0; i < VEC_SUMS; i++) {                                                 \
                    KEEP(a[i % 4]);                                                                  \
                    s[i] = VEC_##outer(s[i], VEC_##inner(a[i % 4], b[i / 4]));                       \
                }                                                                                    \
            }                                                                                        \
            for (int i = 0; i < VEC_SUMS; i++)                                                       \
                KEEP(s[i]);                                                                          \
        }                                                                                            \
    }
OPS(DEFINE)

#define ENTRY(op, outer, inner) {#op, run_##op, bound_##op, right_##op},
static const struct operation {
    const char *name;
    side *run, *bound;
    int (*right)(long i, const sum *row);
} operations[] = {OPS(ENTRY)};
static const struct operation *op;

static const char *check(void)
{
    sum *before = allocate(sizeof(sum) * (size_t)(n * n));
    const char *wrong = NULL;
    for (long i = 0; i < n * n; i++) {
        A[i] = (factor)RANDOM(1, i);
        B[i] = (factor)RANDOM(2, i);
        C[i] = before[i] = RANDOM(3, i);
    }
    op->run();
    for (long r = 0; r < REFERENCE_ROWS; r++) {
        long i = r * (n - 1) / (REFERENCE_ROWS - 1);
        if (!op->right(i, before + i * n))
            wrong = "differs from the plain nest";
    }
    free(before);
    return wrong;
}

static void measure(int threads)
{
    double best[2] = {0};
    const char *wrong = check();
    if (!wrong)
        race(2, (side *[]){op->run, op->bound}, 1, best);
    /* Steps of both sides: n^3, and those of the register loop in every thread. */
    best[1] *= (double)n * (double)n * (double)n;
    best[1] /= (double)ROUNDS * VEC_SUMS * (double)(VEC_BYTES / sizeof(sum)) * threads;
    print_case(name, threads, wrong, 2, best);
}

int main(int argc, char **argv)
{
    for (int a = 1; a < argc; a++) {
        char *colon = strchr(argv[a], ':');
        op = NULL;
        for (size_t o = 0; colon && o < sizeof operations / sizeof *operations; o++)
            if (strlen(operations[o].name) == (size_t)(colon - argv[a]) &&
                strncmp(operations[o].name, argv[a], (size_t)(colon - argv[a])) == 0)
                op = &operations[o];
        if (!op || (n = atol(colon + 1)) < 1)
            return fprintf(stderr, "not a case: %s\n", argv[a]), 1;
        name = argv[a];
        A = allocate(sizeof(factor) * (size_t)(n * n));
        B = allocate(sizeof(factor) * (size_t)(n * n));
        C = allocate(sizeof(sum) * (size_t)(n * n));
        for_threads(measure);
        free(A), free(B), free(C);
    }
    return 0;
}
