/* What the parts of the emulator share. */
#ifndef SW_INTERNAL_H
#define SW_INTERNAL_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#include "athread.h"

enum { CORES = 64, SIDE = 8, PENDING = 512, QUEUE = 8, ARRIVALS = 64 };
enum { FLIGHT = 1 << 20 }; /* what a reply word holds more, for each transfer that is on its way to it */

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
  uint32_t know[QUEUE][CORES];
  int head, count;
} sw_queue;

/* A broadcast between local memories. What it brings is read when somebody waits for it: the sender, or a receiver. */
typedef struct {
  const char *src, *name, *file;
  char *data; /* once it was read */
  long len;
  uint64_t digest;
  int line, from, left; /* left: receivers that have not waited for it, and the sender */
  volatile int *sent;
  double done;
  uint32_t know[CORES];
} sw_message;

typedef struct {
  ucontext_t context;
  char *stack, *top; /* top: highest address of the local data memory */
  int live, begun, waiting; /* waiting: 1 barrier, 2 message, 3 shared work */
  uint64_t group;           /* cores that the barrier is for */
  double clock, busy, channel; /* channel: when the last command of this core is through */
  long ldm_heap, held; /* held: bytes of main memory that live here until they are released */
  char *heap, *lowest; /* lowest: as deep as the stack has been */
  const char *file;    /* where this core last called the emulator */
  int line;
  sw_command pending[PENDING];
  int npending;
  sw_queue rows, columns;
  struct {
    sw_message *what;
    char *dst;
    volatile int *reply;
  } arrivals[ARRIVALS];
  sw_message *sending[ARRIVALS];
  int narrivals, nsending;
  uint32_t know[CORES]; /* up to which of its own times each core is known to have come, this one's own time included */
  uint32_t *used;       /* this core's time when it last used a word of its local memory */
  uint32_t fences;      /* how often it has waited for its own stores to main memory */
  int unfenced;         /* has it stored there since? */
  int flushed;          /* has its data cache been written back and emptied since? */
} sw_core;

typedef struct {
  const char *name;
  long ldm_bytes, cache_bytes, lanes; /* cache_bytes: of local memory, a data cache unless a job says otherwise */
  double clock_hz, launch, barrier, mesh_start, mesh_rate;
  double issue, startup;      /* of a core: to give a command, and until its first byte comes */
  double command, row, byte;  /* of the memory controller: for a command, each block of it, and each byte */
  double core_byte;           /* of a core's own channel */
  double slow[4][2];          /* lengths of blocks that take so many times as long */
} sw_machine;

extern sw_core sw_cores[CORES];
extern int sw_current, sw_threads, sw_model, sw_races, sw_trace, sw_running;
extern long sw_epoch;
extern sw_counts sw_totals;
extern const sw_machine *sw_now;
extern long sw_cache, sw_local; /* bytes of each core's data cache, and what that leaves of its local memory */
extern const char *sw_kernel;

void sw_fail(const char *kind, const char *file, int line, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));
void sw_yield(void);
void sw_block(int why);
void sw_turn(void); /* let the core with the earliest clock go first */
void sw_called(const char *file, int line); /* a core is in a call of the emulator */
void sw_event(const char *kind, double from, double to, long bytes);
double sw_served(sw_core *me, const sw_command *c); /* when a command that is given now is carried out */

/* Order between cores, and who used which word of main memory. */
void sw_spawned(void);
void sw_meet(uint64_t group);                 /* these cores have waited for each other */
void sw_learn(sw_core *me, const uint32_t *); /* all that was known there is known to this core */
void sw_passed(void);                         /* every barrier that was complete is open */
void sw_touch(int write, const char *mem, const char *ldm, long len, long stride, long bsize, const char *file,
              int line, const char *name);
void sw_touch_again(const sw_command *c);
void sw_direct(int write, const char *mem, long len);
void sw_by_master(int write, const char *mem, long len);
void sw_joined(void);

/* Local memory. */
void sw_place(sw_core *c, int id);
int sw_whose(const void *p); /* the core in whose local memory it lies, or -1 */
void sw_poison(char *p, long n);
long sw_undefined(const char *p, long n); /* where something lies that nobody has stored, or -1 */
void sw_check_ldm(const void *p, long bytes, const char *name, const char *file, int line);
void sw_use(sw_core *c, const char *p, long bytes);
void sw_may_fill(const sw_core *to, const char *p, long bytes, const char *name, const char *file, int line);
long sw_depth(sw_core *c, const char *frame);
const char *sw_beyond(const void *p, long bytes); /* the local object behind whose end this is, or NULL */

/* Main memory, as far as its blocks are known. */
void sw_check_memory(const char *mem, long bytes, const char *name, const char *file, int line);

/* Transfers. */
uint64_t sw_digest(const char *p, long n);
void sw_flies(volatile int *reply, const char *name, const char *file, int line);
void sw_landed(volatile int *reply, int count, const char *name, const char *file, int line);
void sw_drain(sw_core *c);
void sw_in_flight(sw_core *me, int write, const char *p, long bytes);

#endif
