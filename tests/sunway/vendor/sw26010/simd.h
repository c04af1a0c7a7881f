/* Shape of the SW26010's vectors: 256 bits, four floats or doubles. Loads are statement expressions that assign their
 * first argument, operations are macros over functions of the compiler with types of their own. */
#ifndef SHAPE_SIMD_H
#define SHAPE_SIMD_H

typedef int intv8 __attribute__((vector_size(32)));
typedef unsigned uintv8 __attribute__((vector_size(32)));
typedef float floatv4 __attribute__((vector_size(16)));
typedef double doublev4 __attribute__((vector_size(32)));

#define SHAPE_BINARY(name) \
  extern doublev4 shape_##name##d(doublev4, doublev4); \
  extern floatv4 shape_##name##s(floatv4, floatv4);
SHAPE_BINARY(add)
SHAPE_BINARY(sub)
SHAPE_BINARY(mul)
SHAPE_BINARY(div)
extern doublev4 simd_vmad(doublev4 a, doublev4 b, doublev4 c);
extern doublev4 simd_vmsd(doublev4 a, doublev4 b, doublev4 c);
extern doublev4 simd_vnmad(doublev4 a, doublev4 b, doublev4 c);
extern floatv4 simd_vmas(floatv4 a, floatv4 b, floatv4 c);
extern floatv4 simd_vmss(floatv4 a, floatv4 b, floatv4 c);
extern floatv4 simd_vnmas(floatv4 a, floatv4 b, floatv4 c);
#define simd_vaddd(x, y) shape_addd(x, y)
#define simd_vsubd(x, y) shape_subd(x, y)
#define simd_vmuld(x, y) shape_muld(x, y)
#define simd_vdivd(x, y) shape_divd(x, y)
#define simd_vadds(x, y) shape_adds(x, y)
#define simd_vsubs(x, y) shape_subs(x, y)
#define simd_vmuls(x, y) shape_muls(x, y)
#define simd_vdivs(x, y) shape_divs(x, y)

static __inline doublev4 __attribute__((__always_inline__)) simd_set_doublev4(double a, double b, double c, double d)
{
  union { double e[4]; doublev4 v; } u = { { a, b, c, d } };
  return u.v;
}
static __inline floatv4 __attribute__((__always_inline__)) simd_set_floatv4(float a, float b, float c, float d)
{
  union { float e[4]; floatv4 v; } u = { { a, b, c, d } };
  return u.v;
}

extern void shape_memory(void *vector, const void *memory);
#define SHAPE_FROM(x, p) ({ __typeof__(x) shape_v; shape_memory(&shape_v, p); (x) = shape_v; (x); })
#define simd_load(x, p) SHAPE_FROM(x, p)
#define simd_loadu(x, p) SHAPE_FROM(x, p)
#define simd_loade(x, p) SHAPE_FROM(x, p)
#define simd_loadr(x, p) SHAPE_FROM(x, p)
#define simd_loadc(x, p) SHAPE_FROM(x, p)
#define simd_loader(x, p) SHAPE_FROM(x, p)
#define simd_loadec(x, p) SHAPE_FROM(x, p)
extern void shape_store(void *memory, const void *vector);
#define simd_store(x, p) ({ __typeof__(x) shape_v = (x); shape_store(p, &shape_v); })
#define simd_storeu(x, p) ({ __typeof__(x) shape_v = (x); shape_store(p, &shape_v); })

/* Register communication: to the core of this number in the row or column, 8: to all of it. */
extern void shape_put(const void *vector, int to);
#define simd_putr(x, to) ({ __typeof__(x) shape_v = (x); shape_put(&shape_v, to); })
#define simd_putc(x, to) ({ __typeof__(x) shape_v = (x); shape_put(&shape_v, to); })
#define simd_getr(x) ({ __typeof__(x) shape_v; shape_memory(&shape_v, 0); shape_v; })
#define simd_getc(x) ({ __typeof__(x) shape_v; shape_memory(&shape_v, 0); shape_v; })

#endif
