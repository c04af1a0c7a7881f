/* Shape of the compute cores' header for the SW26010-Pro. What a core is called comes from registers. */
#ifndef SHAPE_SLAVE_H
#define SHAPE_SLAVE_H

#include <stddef.h>

typedef enum { PE_MODE, BCAST_MODE, ROW_MODE, COL_MODE, BROW_MODE, RANK_MODE } dma_mode;
typedef enum { ROW_SCOPE, COL_SCOPE, ARRAY_SCOPE, PP_SCOPE } scope;
typedef struct { int thread_id; } thread_info_t;

extern volatile int shape_registers[4];
#define _PEN (shape_registers[0])
#define _ROW (shape_registers[1])
#define _COL (shape_registers[2])
#define _CGN (shape_registers[3])

extern void *ldm_malloc(size_t size);
extern void ldm_free(void *p, size_t size);
extern void flush_slave_cache(void);

#endif
