/* 64 compute cores as fibres on one thread: launches, barriers, local memory, errors. Deterministic by construction. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "slave.h"
#include "sw_internal.h"

sw_core sw_cores[CORES];
int sw_running, sw_current = -1, sw_threads = CORES, sw_model, sw_races = 1;
long sw_epoch;
sw_counts sw_totals;
const char *sw_kernel = "?";
static ucontext_t host;
static int ready;
static start_routine routine;
static void *argument;
static FILE *trace;
static double now;

void sw_fail(const char *kind, const char *file, int line, const char *format, ...)
{
  va_list args;
  fflush(stdout);
  fprintf(stderr, "%s:%d: emulator error: ", file, line);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  if (sw_current >= 0)
    fprintf(stderr, " (core %d, kernel %s)", sw_current, sw_kernel);
  fprintf(stderr, " [%s]\n", kind);
  exit(3);
}

void sw_kernel_name(const char *name) { sw_kernel = name; }

int athread_init(void)
{
  const char *model = getenv("SW_MODEL"), *races = getenv("SW_RACES"), *path = getenv("SW_TRACE");
  sw_model = model && *model == '1';
  sw_races = !sw_model && !(races && *races == '0');
  if (path && *path && !trace)
    trace = fopen(path, "w");
  ready = 1;
  return 0;
}

int athread_set_num_threads(int n)
{
  if (n < 1 || n > CORES)
    sw_fail("threads", "athread", 0, "%d threads asked for, there are 64 cores", n);
  sw_threads = n;
  return 0;
}

int athread_get_max_threads(void) { return CORES; }

int athread_halt(void)
{
  const char *path = getenv("SW_COUNTS");
  ready = 0;
  if (path && *path) {
    FILE *f = strcmp(path, "-") ? fopen(path, "w") : stderr;
    const sw_counts c = sw_counted();
    fprintf(f, "launches %ld\nbarriers %ld\ngets %ld\nputs %ld\nblocks %ld\nget_bytes %ld\nput_bytes %ld\n"
               "mesh_messages %ld\nmesh_bytes %ld\nldm_peak %ld\ncycles %.0f\nbusy_cycles %.0f\n",
            c.launches, c.barriers, c.gets, c.puts, c.rows, c.get_bytes, c.put_bytes, c.mesh_messages, c.mesh_bytes,
            c.ldm_peak, c.cycles, c.busy_cycles);
    if (f != stderr)
      fclose(f);
  }
  if (trace)
    fflush(trace);
  return 0;
}

sw_counts sw_counted(void)
{
  sw_totals.cycles = now;
  return sw_totals;
}

void sw_event(const char *kind, double from, double to, long bytes)
{
  if (trace && to > from)
    fprintf(trace, "%d %s %.0f %.0f %ld\n", sw_current, kind, from, to, bytes);
}

/* -- fibres ---------------------------------------------------------------------------------------------------- */

static void enter(void)
{
  sw_core *const c = &sw_cores[sw_current];
  c->top = __builtin_frame_address(0);
  c->lowest = c->top;
  c->begun = 1;
  routine(argument);
  sw_drain(c);
  if (sw_cache && c->unfenced)
    sw_fail("memb", c->file ? c->file : "athread", c->line,
            "a core ends with stores of its own in its data cache, without flush_slave_cache and memb");
  if (c->held)
    sw_fail("kept", "athread", 0, "%ld bytes are still kept in local memory at the end", c->held);
  c->live = 0;
  swapcontext(&c->context, &host);
}

static void start(sw_core *c, int id)
{
  sw_place(c, id);
  memset(&c->rows, 0, sizeof c->rows);
  memset(&c->columns, 0, sizeof c->columns);
  c->live = 1;
  c->waiting = c->npending = c->narrivals = c->nsending = c->begun = c->unfenced = c->flushed = 0;
  c->file = NULL;
  c->ldm_heap = 0;
  c->clock = now + sw_now->launch;
  c->channel = 0;
  getcontext(&c->context);
  c->context.uc_stack.ss_sp = c->stack;
  c->context.uc_stack.ss_size = (size_t)(c->heap - c->stack);
  c->context.uc_link = &host;
  makecontext(&c->context, enter, 0);
}

void sw_yield(void) { swapcontext(&sw_cores[sw_current].context, &host); }

void sw_block(int why)
{
  sw_cores[sw_current].waiting = why;
  sw_yield();
}

void sw_turn(void)
{
  if (!sw_model)
    return;
  for (int k = 0; k < sw_threads; k++)
    if (sw_cores[k].live && !sw_cores[k].waiting && sw_cores[k].clock < sw_cores[sw_current].clock) {
      sw_yield();
      return;
    }
}

static int pick(int last)
{
  int best = -1;
  for (int k = 1; k <= sw_threads; k++) {
    const int n = (last + k) % sw_threads;
    if (!sw_cores[n].live || sw_cores[n].waiting)
      continue;
    if (!sw_model)
      return n;
    if (best < 0 || sw_cores[n].clock < sw_cores[best].clock)
      best = n;
  }
  return best;
}

/* The cores of `group` go on. 1: a barrier; 3: work on shared panels, which ends for all at once; 4: a new launch. */
static void release(int why, uint64_t group)
{
  double latest = 0;
  for (int k = 0; k < sw_threads; k++)
    if (group >> k & 1 && sw_cores[k].live && sw_cores[k].clock > latest)
      latest = sw_cores[k].clock;
  for (int k = 0; k < sw_threads; k++) {
    if (!(group >> k & 1))
      continue;
    sw_current = k;
    const double open = latest + (why == 1 ? sw_now->barrier : why == 4 ? sw_now->launch : 0);
    sw_event("barrier", sw_cores[k].clock, open, 0);
    sw_cores[k].clock = open;
    sw_cores[k].waiting = 0;
  }
  sw_totals.launches += why == 4;
}

/* Opens every barrier that all of its cores have reached. Returns how many. */
static int open_barriers(void)
{
  uint64_t opened = 0;
  int count = 0;
  for (int k = 0; k < sw_threads; k++) {
    const sw_core *const c = &sw_cores[k];
    if (!c->live || c->waiting != 1 || opened >> k & 1)
      continue;
    int all = 1;
    for (int m = 0; m < CORES; m++)
      if (c->group >> m & 1)
        all &= m < sw_threads && sw_cores[m].live && sw_cores[m].waiting == 1 && sw_cores[m].group == c->group;
    if (all) {
      opened |= c->group;
      count++;
      sw_meet(c->group);
      release(1, c->group);
    }
  }
  if (count)
    sw_passed();
  sw_totals.barriers += count > 0;
  return count;
}

/* Nobody can go on: barriers that all have reached open; anything else is a deadlock. */
static void unblock(void)
{
  int together = 0, mesh = -1, at = -1;
  if (open_barriers())
    return;
  for (int k = 0; k < sw_threads; k++) {
    together += sw_cores[k].live && sw_cores[k].waiting >= 3;
    mesh = sw_cores[k].live && sw_cores[k].waiting == 2 ? k : mesh;
    at = at < 0 && sw_cores[k].live && sw_cores[k].waiting == 1 ? k : at;
  }
  if (together == sw_threads) {
    release(sw_cores[0].waiting, ~0ull);
    return;
  }
  if (mesh >= 0)
    sw_fail("mesh", "athread", 0, "core %d waits for a message between cores that nobody sends or takes", mesh);
  int missing = 0;
  while (sw_cores[at].group >> missing & 1 ? missing < sw_threads && sw_cores[missing].live &&
         sw_cores[missing].waiting == 1 && sw_cores[missing].group == sw_cores[at].group : 1)
    missing++;
  sw_fail("barrier", sw_cores[at].file, sw_cores[at].line, "core %d waits at a barrier that core %d never reaches", at,
          missing);
}

int __real_athread_spawn(void *f, void *arg)
{
  if (!ready)
    sw_fail("not-initialised", "athread", 0, "athread_spawn before athread_init");
  if (sw_running)
    sw_fail("join", "athread", 0, "athread_spawn before the last group was joined");
  sw_running = 1;
  routine = (start_routine)f;
  argument = arg;
  for (int k = 0; k < sw_threads; k++)
    start(&sw_cores[k], k);
  sw_totals.launches++;
  sw_spawned();
  return 0;
}

int athread_join(void)
{
  int left = sw_threads, last = -1;
  if (!sw_running)
    sw_fail("join", "athread", 0, "athread_join without athread_spawn");
  while (left) {
    const int next = pick(last);
    if (next < 0) {
      unblock();
      continue;
    }
    sw_current = last = next;
    swapcontext(&host, &sw_cores[next].context);
    left -= !sw_cores[next].live;
  }
  double latest = now;
  for (int k = 0; k < sw_threads; k++) {
    if (sw_cores[k].rows.count || sw_cores[k].columns.count)
      sw_fail("mesh", "athread", 0, "core %d has ended, and a message to it was not taken", k);
    latest = sw_cores[k].clock > latest ? sw_cores[k].clock : latest;
    sw_totals.busy_cycles += sw_cores[k].busy;
    sw_cores[k].busy = 0;
  }
  now = latest;
  sw_current = -1;
  sw_joined();
  sw_running = 0;
  return 0;
}

/* -- what a core may ask ---------------------------------------------------------------------------------------- */

void sw_called(const char *file, int line)
{
  sw_core *const me = &sw_cores[sw_current];
  if (sw_current < 0)
    sw_fail("not-launched", file, line, "the management core calls what is for compute cores");
  me->file = file;
  me->line = line;
}

int athread_get_id(int core) { return core < 0 ? sw_current : core; }

/* The cores that a barrier of this core is for. */
static uint64_t group_of(int s, int mask, const char *file, int line)
{
  const int row = sw_current / SIDE, column = sw_current % SIDE;
  uint64_t group = 0;
  if (s == ARRAY_SCOPE && mask == 0xffff)
    return ~0ull;
  if (s == SW_ROWS)
    return (mask == SIDE ? ~0ull : (1ull << SIDE * mask) - 1) << row / mask * mask * SIDE;
  if (s == ARRAY_SCOPE || mask <= 0 || mask > 0xff)
    sw_fail("barrier", file, line, "a barrier with the mask %#x: of all cores it is 0xffff, of a row or column up to 0xff",
            mask);
  for (int k = 0; k < SIDE; k++)
    if (mask >> k & 1)
      group |= 1ull << (s == ROW_SCOPE ? row * SIDE + k : k * SIDE + column);
  if (!(group >> sw_current & 1))
    sw_fail("barrier", file, line, "a core waits at a barrier that is not for it: mask %#x", mask);
  return group;
}

int sw_syn(int s, int mask, const char *file, int line)
{
  sw_core *const me = &sw_cores[sw_current];
  sw_called(file, line);
  me->group = group_of(s, mask, file, line);
  if (me->unfenced)
    sw_fail("memb", file, line, "a core comes to a barrier with stores to main memory of its own, without %s",
            sw_cache ? "flush_slave_cache and memb" : "memb");
  sw_block(1);
  return 0;
}

void sw_misaligned(const void *p, int bytes, const char *file, int line)
{
  sw_fail("alignment", file, line, "a vector access of %d bytes at %p, which is no multiple of that", bytes, p);
}

void sw_relaunch(void) { sw_block(4); }

void sw_mesh_work(double cycles, long messages)
{
  sw_work(cycles);
  sw_totals.mesh_messages += messages;
  sw_totals.mesh_bytes += 32 * messages;
  sw_block(3);
}

void sw_work(double cycles)
{
  sw_core *const c = &sw_cores[sw_current];
  sw_event("compute", c->clock, c->clock + cycles, 0);
  c->clock += cycles;
  c->busy += cycles;
}
