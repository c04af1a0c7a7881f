/* Shape of the compute cores' header for the SW26010. Vectors and messages between cores are in simd.h. */
#ifndef SHAPE_SLAVE_H
#define SHAPE_SLAVE_H

#include <stddef.h>

typedef enum { PE_MODE, BCAST_MODE, ROW_MODE, BROW_MODE, RANK_MODE } dma_mode;
typedef enum { ROW_SCOPE, COL_SCOPE, ARRAY_SCOPE } scope;

extern int athread_get_id(int core);
extern int athread_get_core(int id);
extern int athread_syn(scope which, int mask);
extern int athread_get(dma_mode mode, void *src, void *dest, int len, void *reply, char mask, int stride, int bsize);
extern int athread_put(dma_mode mode, void *src, void *dest, int len, void *reply, int stride, int bsize);
extern void *ldm_malloc(size_t size);
extern void ldm_free(void *p, size_t size);
extern unsigned get_allocatable_size(void);

#define __thread_local __thread

#endif
