/* Shape of the SW26010-Pro's vectors: 512 bits on compute cores, eight floats or doubles; no vector has sixteen floats.
 * They are declared where the compiler has -msimd, which defines _SIMD_SLAVE. */
#ifndef SHAPE_SIMD_H
#define SHAPE_SIMD_H

#ifdef _SIMD_SLAVE
typedef int intv16 __attribute__((vector_size(64)));
typedef unsigned uintv16 __attribute__((vector_size(64)));
typedef float floatv8 __attribute__((vector_size(32)));
typedef double doublev8 __attribute__((vector_size(64)));

#define SHAPE_BINARY(name) \
  extern doublev8 simd_v##name##d(doublev8, doublev8); \
  extern floatv8 simd_v##name##s(floatv8, floatv8);
SHAPE_BINARY(add)
SHAPE_BINARY(sub)
SHAPE_BINARY(mul)
SHAPE_BINARY(div)
extern doublev8 simd_vmad(doublev8 a, doublev8 b, doublev8 c);
extern doublev8 simd_vnmad(doublev8 a, doublev8 b, doublev8 c);
extern floatv8 simd_vmas(floatv8 a, floatv8 b, floatv8 c);
extern floatv8 simd_vnmas(floatv8 a, floatv8 b, floatv8 c);
extern doublev8 simd_vcpyfd(double x);
extern floatv8 simd_vcpyfs(float x);

static __inline doublev8 __attribute__((__always_inline__))
simd_set_doublev8(double a, double b, double c, double d, double e, double f, double g, double h)
{
  union { double e[8]; doublev8 v; } u = { { a, b, c, d, e, f, g, h } };
  return u.v;
}
static __inline floatv8 __attribute__((__always_inline__))
simd_set_floatv8(float a, float b, float c, float d, float e, float f, float g, float h)
{
  union { float e[8]; floatv8 v; } u = { { a, b, c, d, e, f, g, h } };
  return u.v;
}

extern void shape_memory(void *vector, const void *memory);
#define SHAPE_FROM(x, p) ({ __typeof__(x) shape_v; shape_memory(&shape_v, p); (x) = shape_v; (x); })
#define simd_load(x, p) SHAPE_FROM(x, p)
#define simd_loadu(x, p) SHAPE_FROM(x, p)
#define simd_loade(x, p) SHAPE_FROM(x, p)
extern void shape_store(void *memory, const void *vector);
#define simd_store(x, p) ({ __typeof__(x) shape_v = (x); shape_store(p, &shape_v); })
#define simd_storeu(x, p) ({ __typeof__(x) shape_v = (x); shape_store(p, &shape_v); })
#endif

#endif
