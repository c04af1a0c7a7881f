/* The vector dialect of the SW26010 (and, wider, of the SW26010-Pro) on GNU vectors. */
#ifndef SW_SIMD_H
#define SW_SIMD_H

typedef double doublev4 __attribute__((vector_size(32)));
typedef double doublev8 __attribute__((vector_size(64)));
typedef float floatv4 __attribute__((vector_size(16)));
typedef float floatv8 __attribute__((vector_size(32)));
typedef double sw_doublev4u __attribute__((vector_size(32), aligned(8), may_alias));
typedef double sw_doublev8u __attribute__((vector_size(64), aligned(8), may_alias));
typedef float sw_floatv4u __attribute__((vector_size(16), aligned(4), may_alias));
typedef float sw_floatv8u __attribute__((vector_size(32), aligned(4), may_alias));

void sw_misaligned(const void *p, int bytes, const char *file, int line);
#define SW_ALIGNED(p, bytes) \
  ((void)(((unsigned long)(p) & ((bytes)-1)) && (sw_misaligned((p), (bytes), __FILE__, __LINE__), 0)))

/* Aligned loads fault on the hardware when the address is not a multiple of the vector's size. */
#define simd_load(v, p) (SW_ALIGNED(p, (int)sizeof(v)), (v) = *(__typeof__(v) *)(p))
#define simd_store(v, p) (SW_ALIGNED(p, (int)sizeof(v)), *(__typeof__(v) *)(p) = (v))
#define SW_ANY(v, p) \
  _Generic((v), doublev4: (sw_doublev4u *)(void *)(p), doublev8: (sw_doublev8u *)(void *)(p), \
           floatv4: (sw_floatv4u *)(void *)(p), floatv8: (sw_floatv8u *)(void *)(p))
#define simd_loadu(v, p) ((v) = *SW_ANY(v, p))
#define simd_storeu(v, p) (*SW_ANY(v, p) = (v))
/* One element to all lanes. */
#define simd_loade(v, p) ((v) = *(p) - (__typeof__(v)){ 0 })
#define simd_set_doublev4(a, b, c, d) ((doublev4){ a, b, c, d })
#define simd_set_floatv4(a, b, c, d) ((floatv4){ a, b, c, d })
#define simd_set_doublev8(a, b, c, d, e, f, g, h) ((doublev8){ a, b, c, d, e, f, g, h })
#define simd_set_floatv8(a, b, c, d, e, f, g, h) ((floatv8){ a, b, c, d, e, f, g, h })
/* One value to all lanes, on the SW26010-Pro. */
#define simd_vcpyfd(x) ((x) - (doublev8){ 0 })
#define simd_vcpyfs(x) ((x) - (floatv8){ 0 })
#define simd_vaddd(a, b) ((a) + (b))
#define simd_vsubd(a, b) ((a) - (b))
#define simd_vmuld(a, b) ((a) * (b))
#define simd_vdivd(a, b) ((a) / (b))
/* One operation that rounds once, lane by lane. */
#define SW_FUSED(fma, a, b, c) \
  ({ \
    const __typeof__((c) + (c)) sw_a = (a), sw_b = (b); \
    __typeof__((c) + (c)) sw_c = (c); \
    _Pragma("GCC unroll 8") for (int sw_k = 0; sw_k < (int)(sizeof sw_c / sizeof sw_c[0]); sw_k++) \
      sw_c[sw_k] = fma(sw_a[sw_k], sw_b[sw_k], sw_c[sw_k]); \
    sw_c; \
  })
#define simd_vmad(a, b, c) SW_FUSED(__builtin_fma, a, b, c)
#define simd_vadds(a, b) ((a) + (b))
#define simd_vsubs(a, b) ((a) - (b))
#define simd_vmuls(a, b) ((a) * (b))
#define simd_vdivs(a, b) ((a) / (b))
#define simd_vmas(a, b, c) SW_FUSED(__builtin_fmaf, a, b, c)

#endif
