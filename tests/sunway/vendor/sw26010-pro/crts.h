/* Shape of the SW26010-Pro's own interface, for both kinds of cores. Commands, waits and barriers are macros. */
#ifndef SHAPE_CRTS_H
#define SHAPE_CRTS_H

#include <stdint.h>
#include <stdlib.h>

#ifdef __sw_host__
#include <athread.h>
typedef volatile long crts_rply_t;
#elif defined __sw_slave__
#include <slave.h>
typedef volatile int crts_rply_t;
extern thread_info_t shape_cores[6][64];
#define athread_get_id(core) (shape_cores[(_CGN)][core == -1 ? _PEN : core].thread_id)

#define SHAPE_SYNC ({ asm volatile("" ::: "memory"); 0; })
#define CRTS_ssync_array() SHAPE_SYNC
#define CRTS_ssync_32spe() SHAPE_SYNC
#define CRTS_ssync_16spe() SHAPE_SYNC
#define CRTS_ssync_8spe() SHAPE_SYNC
#define CRTS_ssync_row() SHAPE_SYNC
#define CRTS_ssync_col() SHAPE_SYNC
#define athread_ssync_array CRTS_ssync_array
/* It returns from the function around it where the scope is none of these. */
#define athread_ssync(which, mask) \
  ({ \
    switch (which) { \
    case ROW_SCOPE: asm volatile("" ::"r"(mask)); break; \
    case COL_SCOPE: asm volatile("" ::"r"(mask)); break; \
    default: return -1; \
    } \
    0; \
  })

/* Commands, too, are there with -msimd only. */
#ifndef _SIMD_SLAVE
#define shape_dma(...) _Static_assert_Please_use_msimd_option
#else
extern void shape_dma(dma_mode mode, int put, void *mem, void *ldm, int len, void *reply, int mask, int stride, int bsize);
#endif
#define CRTS_dma_iget_stride(dest, src, len, bsize, stride, reply) \
  ({ shape_dma(PE_MODE, 0, (void *)(src), (void *)(dest), (len), (void *)(reply), 0, stride, bsize); 0; })
#define CRTS_dma_iput_stride(dest, src, len, bsize, stride, reply) \
  ({ shape_dma(PE_MODE, 1, (void *)(dest), (void *)(src), (len), (void *)(reply), 0, stride, bsize); 0; })
#define CRTS_dma_wait_value(reply, value) ({ while (*(crts_rply_t *)(reply) < value); 0; })
#define athread_dma_iget_stride CRTS_dma_iget_stride
#define athread_dma_iput_stride CRTS_dma_iput_stride
#define athread_dma_wait_value CRTS_dma_wait_value

extern void shape_rma(int mode, uint64_t dst, uint64_t src, uint64_t len, uint64_t here, uint64_t there, int mask);
#define SHAPE_RMA(mode, dst, src, len, here, there, mask) \
  ({ shape_rma(mode, (uint64_t)(dst), (uint64_t)(src), (uint64_t)(len), (uint64_t)(here), (uint64_t)(there), mask); 0; })
#define CRTS_rma_row_ibcast(dst, src, len, here, there) SHAPE_RMA(5, dst, src, len, here, there, 1 << _ROW)
#define CRTS_rma_col_ibcast(dst, src, len, here, there) SHAPE_RMA(6, dst, src, len, here, there, 1 << _COL)
#define CRTS_rma_wait_value(reply, value) ({ while (*(crts_rply_t *)(reply) < value); 0; })
#define athread_rma_row_ibcast CRTS_rma_row_ibcast
#define athread_rma_col_ibcast CRTS_rma_col_ibcast
#define athread_rma_wait_value CRTS_rma_wait_value
typedef volatile long athread_rply_t; /* wider than the words that cores count in */
#endif

#endif
