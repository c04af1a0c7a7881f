/* Compute-core side of the Athread library for the host emulator.
 *
 * Local arrays of a kernel are its local data memory: every core runs on a stack of its own that is checked against
 * the size of the LDM. Commands are checked when they are issued and carried out when they are waited for.
 */
#ifndef SW_SLAVE_H
#define SW_SLAVE_H

#include <stddef.h>
#include "simd.h"

typedef enum { PE_MODE, BCAST_MODE, ROW_MODE, BROW_MODE, RANK_MODE } dma_mode;
typedef enum { ROW_SCOPE, COL_SCOPE, ARRAY_SCOPE } scope;
/* Cores that a barrier is for: of this core's row (by columns), of its column (by rows), or of some rows together. */
enum { SW_ROWS = 3 };

int athread_get_id(int core);
#define _MYID athread_get_id(-1)
#define _ROW (athread_get_id(-1) / 8)
#define _COL (athread_get_id(-1) % 8)

int sw_get(dma_mode mode, void *src, void *dst, long len, void *reply, char mask, long stride, long bsize,
           const char *name, const char *file, int line);
int sw_put(dma_mode mode, void *src, void *dst, long len, void *reply, long stride, long bsize, const char *name,
           const char *file, int line);
void sw_wait(volatile int *reply, int count, const char *name, const char *file, int line);
int sw_syn(int s, int mask, const char *file, int line);
void *sw_ldm_malloc(size_t bytes, const char *file, int line);
void ldm_free(void *p, size_t bytes);

#define athread_get(mode, src, dst, len, reply, mask, stride, bsize) \
  sw_get(mode, src, dst, len, (void *)(reply), mask, stride, bsize, #dst, __FILE__, __LINE__)
#define athread_put(mode, src, dst, len, reply, stride, bsize) \
  sw_put(mode, src, dst, len, (void *)(reply), stride, bsize, #src, __FILE__, __LINE__)
#define dma_wait(reply, count) sw_wait(reply, count, #reply, __FILE__, __LINE__)
#define athread_syn(s, mask) sw_syn(s, mask, __FILE__, __LINE__)
/* This core's own stores to main memory are there before anything that follows. */
void sw_fence(void);
#define memb() sw_fence()
/* What this core has stored in main memory by itself leaves its data cache, which is empty then. */
void flush_slave_cache(void);
#define ldm_malloc(bytes) sw_ldm_malloc(bytes, __FILE__, __LINE__)

/* Bytes of main memory that live in this core's local memory, across barriers: no other core may touch them meanwhile. */
void sw_hold(int on, const void *mem, long len, long stride, long bsize, const char *file, int line);
#define ldm_hold(mem, len, stride, bsize) sw_hold(1, mem, len, stride, bsize, __FILE__, __LINE__)
#define ldm_release(mem, len, stride, bsize) sw_hold(0, mem, len, stride, bsize, __FILE__, __LINE__)

/* Register communication: one 256-bit vector to one core of the row or column, or (8) to all others of it. */
void sw_put_row(const void *v, int dst, const char *file, int line);
void sw_put_column(const void *v, int dst, const char *file, int line);
void sw_get_row(void *v, const char *file, int line);
void sw_get_column(void *v, const char *file, int line);
#define simd_putr(v, dst) sw_put_row(&(v), dst, __FILE__, __LINE__)
#define simd_putc(v, dst) sw_put_column(&(v), dst, __FILE__, __LINE__)
#define SW_TAKE(v, side) ({ __typeof__(v) sw_taken; sw_get_##side(&sw_taken, __FILE__, __LINE__); sw_taken; })
#define simd_getr(v) SW_TAKE(v, row)
#define simd_getc(v) SW_TAKE(v, column)
/* Loads that also send: a vector, or (e) one element extended to all lanes, along the row or down the column. */
#define simd_loadr(v, p) (simd_load(v, p), simd_putr(v, 8))
#define simd_loadc(v, p) (simd_load(v, p), simd_putc(v, 8))
#define simd_loader(v, p) (simd_loade(v, p), simd_putr(v, 8))
#define simd_loadec(v, p) (simd_loade(v, p), simd_putc(v, 8))

/* SW26010-Pro (CRTS): destination first, block size before the gap; broadcasts between local memories. */
typedef volatile int crts_rply_t;
#define athread_dma_iget_stride(dst, src, len, bsize, stride, reply) \
  sw_get(PE_MODE, src, dst, len, (void *)(reply), 0, stride, bsize, #dst, __FILE__, __LINE__)
#define athread_dma_iput_stride(dst, src, len, bsize, stride, reply) \
  sw_put(PE_MODE, src, dst, len, (void *)(reply), stride, bsize, #src, __FILE__, __LINE__)
#define athread_dma_wait_value(reply, count) sw_wait(reply, count, #reply, __FILE__, __LINE__)
#define athread_ssync(s, mask) sw_syn(s, mask, __FILE__, __LINE__)
#define CRTS_ssync_array() sw_syn(ARRAY_SCOPE, 0xffff, __FILE__, __LINE__)
#define CRTS_ssync_32spe() sw_syn(SW_ROWS, 4, __FILE__, __LINE__)
#define CRTS_ssync_16spe() sw_syn(SW_ROWS, 2, __FILE__, __LINE__)
#define CRTS_ssync_8spe() sw_syn(SW_ROWS, 1, __FILE__, __LINE__)
#define athread_ssync_array CRTS_ssync_array
void sw_rma(int row, void *dst, void *src, long len, void *sent, void *received, const char *name, const char *file,
            int line);
#define athread_rma_row_ibcast(dst, src, len, sent, received) \
  sw_rma(1, dst, src, len, (void *)(sent), (void *)(received), #dst, __FILE__, __LINE__)
#define athread_rma_col_ibcast(dst, src, len, sent, received) \
  sw_rma(0, dst, src, len, (void *)(sent), (void *)(received), #dst, __FILE__, __LINE__)
void sw_rma_wait(volatile int *reply, int count, const char *name, const char *file, int line);
#define athread_rma_wait_value(reply, count) sw_rma_wait(reply, count, #reply, __FILE__, __LINE__)

/* Work that a timing model does instead of computing: cycles of this core. */
void sw_work(double cycles);
/* The group ends and is started again, as when a loop on the management core launches every kernel by itself. */
void sw_relaunch(void);
/* All cores of the array work on shared panels: they finish together. */
void sw_mesh_work(double cycles, long messages);

#endif
