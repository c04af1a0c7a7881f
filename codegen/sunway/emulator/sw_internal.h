/* What the parts of the emulator share. */
#ifndef SW_INTERNAL_H
#define SW_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#include "athread.h"

enum { CORES = 64, SIDE = 8, PENDING = 512, QUEUE = 8, ARRIVALS = 64 };

typedef struct {
  int put, row_of, serial;
  char *mem, *ldm;
  long len, stride, bsize;
  volatile int *reply;
  const char *name, *file;
  int line;
  uint64_t digest; /* of what a put will read, when it was issued */
  double done;     /* when the memory controller has served it */
} sw_command;

/* Messages on their way to a core along its row or its column, in the order in which they were sent. */
typedef struct {
  char data[QUEUE][32];
  double when[QUEUE];
  int head, count;
} sw_queue;

typedef struct {
  ucontext_t context;
  char *stack, *top; /* top: highest address of the local data memory */
  int live, waiting; /* waiting: 1 barrier, 2 message, 3 shared work */
  uint64_t group;    /* cores that the barrier is for */
  double clock, busy;
  long ldm_heap, held; /* held: bytes of main memory that live here until they are released */
  char *heap;
  const char *file; /* where this core last called the emulator */
  int line;
  sw_command pending[PENDING];
  int npending;
  sw_queue rows, columns;
  struct {
    volatile int *reply;
    double when;
  } arrivals[ARRIVALS]; /* broadcasts between local memories, with the time at which they are there */
  int narrivals;
} sw_core;

typedef struct {
  long ldm_bytes, lanes;
  double clock_hz, launch, barrier, startup, mesh_start, mesh_rate;
  double command; /* what the controller spends on a command, besides its bytes */
  const double (*table)[2]; /* bytes of a block, MB/s */
  int rows;
} sw_machine;

extern sw_core sw_cores[CORES];
extern int sw_current, sw_threads, sw_model, sw_races, sw_trace;
extern long sw_epoch;
extern sw_counts sw_totals;
extern const sw_machine *sw_now;
extern const char *sw_kernel;

void sw_fail(const char *kind, const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));
void sw_yield(void);
void sw_block(int why);
void sw_meet(uint64_t group); /* these cores have waited for each other */
void sw_turn(void); /* let the core with the earliest clock go first */
void sw_touch(int write, const char *mem, const char *ldm, long len, long stride, long bsize, const char *file,
              int line, const char *name);
void sw_touch_again(const sw_command *c);
double sw_rate(long bsize);
void sw_event(const char *kind, double from, double to, long bytes);
void sw_check_ldm(const void *p, long bytes, const char *name, const char *file, int line);
void sw_drain(sw_core *c);

#endif
