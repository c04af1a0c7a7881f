/* Vectors of the host as GNU vector types, and reading memory with them. */
#ifndef VECTOR_H
#define VECTOR_H

#include <stdint.h>

#if defined __aarch64__
#include <arm_neon.h>
#define VEC_BYTES 16
#define VEC_SUMS 16 /* independent sums that fit the registers beside the operands of a step */
#define KEEP(v) __asm__ volatile("" : "+w"(v))
#elif defined __AVX512F__
#include <immintrin.h>
#define VEC_BYTES 64
#define VEC_SUMS 16
#define KEEP(v) __asm__ volatile("" : "+v"(v))
#elif defined __AVX2__
#include <immintrin.h>
#define VEC_BYTES 32
#define VEC_SUMS 8
#define KEEP(v) __asm__ volatile("" : "+x"(v))
#else
#error "no vectors known for this host"
#endif

typedef uint64_t vec_u64 __attribute__((vector_size(VEC_BYTES), may_alias));

/* The sum of vectors first..past-1 at p, in independent parts. */
static inline void read_vectors(const char *p, long first, long past)
{
    const vec_u64 *v = (const vec_u64 *)p;
    vec_u64 sum[8] = {{0}};
    long i = first;
    for (; i + 8 <= past; i += 8)
        for (int s = 0; s < 8; s++)
            sum[s] += v[i + s];
    for (; i < past; i++)
        sum[0] += v[i];
    for (int s = 1; s < 8; s++)
        sum[0] += sum[s];
    KEEP(sum[0]);
}

#endif
