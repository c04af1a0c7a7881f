/* Blocks whose threads meet: shared memory, barriers, asynchronous copies and matrix units. Part of emulator.c.

   Threads are fibers. Each runs until it waits or ends, in random order; all go on when they have come to a barrier.
   Found are: two threads that touch the same byte of shared memory between two barriers, one of them writing; shared
   memory that is read and was not written in this block; barriers that not all threads of a block reach, or that are not
   the same one; bytes that are used while a copy to them is under way; copies that nobody waits for; matrix units that not
   all threads of a warp use at once. */
#include <ucontext.h>

enum { FIBER_STACK = 128 << 10, WARP = 32, COPIES = 1024 };

typedef enum { RUNS, AT_BARRIER, AT_UNIT, ENDED } state;

typedef struct {
  char *to;
  unsigned char data[16];
  size_t bytes;
  uint64_t group;
} copy;

typedef struct {
  int m, k, fused;
  double a[8], b[4], c[4];
} fragment;

struct fiber {
  ucontext_t context;
  state state;
  emu_index place;
  uint64_t turn, group;
  const void *site; /* of the barrier that it waits at */
  fragment part;
  copy copies[COPIES];
  int copy_count;
};

static fiber *fibers;
static char *stacks;
static ucontext_t scheduler;
static void (*kernel_call)(void *);
static void *kernel_argument;

static void wait_here(state why)
{
  current->state = why;
  running = 0;
  swapcontext(&current->context, &scheduler);
  running = 1;
}

static void fiber_main(void)
{
  running = 1;
  kernel_call(kernel_argument);
  for (int k = 0; k < current->copy_count; k++)
    if (current->copies[k].bytes)
      fault("an asynchronous copy that nobody waits for");
  wait_here(ENDED);
}

void emu_barrier(void)
{
  if (!current)
    fault("a barrier in a kernel that was launched without shared memory");
  current->site = __builtin_return_address(0);
  wait_here(AT_BARRIER);
}

void *emu_shared(void)
{
  if (!current)
    fault("a kernel that was launched without shared memory uses some");
  return shared->at;
}

void emu_async(void *to, const void *from, size_t bytes)
{
  if (!current || find(to) != shared)
    fault("an asynchronous copy to what is no shared memory");
  if (bytes != 4 && bytes != 8 && bytes != 16)
    fault("an asynchronous copy of %zu bytes", bytes);
  if ((size_t)to % bytes || (size_t)from % bytes)
    fault("an asynchronous copy that is not aligned");
  touch(from, bytes, 0);
  touch(to, bytes, 1);
  int k = 0;
  while (k < current->copy_count && current->copies[k].bytes)
    k++;
  if (k == COPIES)
    fault("too many asynchronous copies at once");
  current->copy_count = k == current->copy_count ? k + 1 : current->copy_count;
  copy *c = &current->copies[k];
  *c = (copy){ to, { 0 }, bytes, current->group };
  memcpy(c->data, from, bytes);
  memset(shared->flight + ((char *)to - shared->at), 1, bytes);
}

void emu_commit(void)
{
  if (current)
    current->group++;
}

void emu_wait(unsigned behind)
{
  for (int k = 0; current && k < current->copy_count; k++) {
    copy *c = &current->copies[k];
    if (!c->bytes || c->group + behind >= current->group)
      continue;
    const size_t first = (size_t)(c->to - shared->at);
    memset(shared->flight + first, 0, c->bytes);
    memcpy(c->to, c->data, c->bytes);
    touch(c->to, c->bytes, 1);
    c->bytes = 0;
  }
}

/* The layout of fragments by PTX: lane l has rows l / 4 (and 8 more) and depths l % 4 (and 4, 8, 12 more) of A, depths
   l % 4 and column l / 4 of B, rows l / 4 and columns 2 (l % 4) and the next one of C. */
static double *part_of_a(fiber *warp, int row, int k) { return &warp[row % 8 * 4 + k % 4].part.a[k / 4 * (warp->part.m / 8) + row / 8]; }
static double *part_of_b(fiber *warp, int k, int column) { return &warp[column * 4 + k % 4].part.b[k / 4]; }
static double *part_of_c(fiber *warp, int row, int column) { return &warp[row % 8 * 4 + column / 2].part.c[row / 8 * 2 + column % 2]; }

static void unit(fiber *warp)
{
  for (int l = 0; l < WARP; l++) {
    if (warp[l].state != AT_UNIT || warp[l].part.m != warp->part.m || warp[l].part.k != warp->part.k)
      fault("a matrix unit that not all threads of a warp use");
    warp[l].state = RUNS;
  }
  for (int row = 0; row < warp->part.m; row++)
    for (int column = 0; column < 8; column++) {
      double *c = part_of_c(warp, row, column);
      for (int k = 0; k < warp->part.k; k++) {
        const double x = *part_of_a(warp, row, k), y = *part_of_b(warp, k, column);
        volatile double product = x * y;
        *c = warp->part.fused ? fma(x, y, *c) : *c + product;
      }
    }
}

void emu_mma(int m, int k, double *c, const double *a, const double *b, int fused)
{
  if (!current)
    fault("a matrix unit in a kernel that was launched without shared memory");
  current->part.m = m;
  current->part.k = k;
  current->part.fused = fused;
  memcpy(current->part.a, a, sizeof(double) * (size_t)(m * k / WARP));
  memcpy(current->part.b, b, sizeof(double) * (size_t)(k * 8 / WARP));
  memcpy(current->part.c, c, sizeof(double) * (size_t)(m * 8 / WARP));
  wait_here(AT_UNIT);
  memcpy(c, current->part.c, sizeof(double) * (size_t)(m * 8 / WARP));
}

static void start_block(emu_index block)
{
  epoch++;
  memset(shared->defined, 0, shared->bytes);
  memset(shared->flight, 0, shared->bytes);
  emu_now.block = block;
  for (uint64_t k = 0; k < thread_count; k++) {
    fiber *f = &fibers[k];
    f->state = RUNS;
    f->place = unfold((uint32_t)k, emu_now.threads);
    f->turn = ++turn;
    f->group = 0;
    f->copy_count = 0;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = stacks + k * FIBER_STACK;
    f->context.uc_stack.ss_size = FIBER_STACK;
    f->context.uc_link = NULL;
    makecontext(&f->context, fiber_main, 0);
    threads_run++;
  }
}

/* All that can run do, until they wait. Have all ended? */
static int round_of_threads(void)
{
  uint64_t ended = 0, at_barrier = 0;
  uint32_t *order = shuffled(thread_count);
  for (uint64_t k = 0; k < thread_count; k++) {
    current = &fibers[order[k]];
    if (current->state != RUNS)
      continue;
    emu_now.thread = current->place;
    stack_low = stacks + (size_t)(current - fibers) * FIBER_STACK;
    stack_high = stack_low + FIBER_STACK;
    swapcontext(&scheduler, &current->context);
  }
  free(order);
  running = 1;
  for (uint64_t k = 0; k < thread_count; k++) {
    current = &fibers[k];
    emu_now.thread = current->place;
    if (current->state == AT_UNIT) {
      if (k % WARP || k + WARP > thread_count)
        fault("a matrix unit that not all threads of a warp use");
      unit(current);
      k += WARP - 1;
      continue;
    }
    ended += current->state == ENDED;
    at_barrier += current->state == AT_BARRIER;
  }
  if (at_barrier && ended)
    fault("a barrier that not all threads of a block reach");
  for (uint64_t k = 0; at_barrier == thread_count && k < thread_count; k++) {
    if (fibers[k].site != fibers[0].site)
      fault("threads of a block that wait at different barriers");
    fibers[k].state = RUNS;
  }
  if (at_barrier == thread_count) {
    barriers_run++;
    epoch++;
  }
  running = 0;
  return ended == thread_count;
}

/* The blocks of a launch whose threads meet, one after the other, with so many bytes of shared memory. */
void emu_blocks(size_t bytes, void (*call)(void *), void *argument)
{
  static memory block;
  kernel_call = call;
  kernel_argument = argument;
  block = (memory){ .bytes = bytes, .mapped = bytes + 1 };
  block.at = aligned_alloc(4096, (bytes + 4096) / 4096 * 4096);
  block.writer = calloc(bytes + 1, sizeof *block.writer);
  block.reader = calloc(bytes + 1, sizeof *block.reader);
  block.defined = calloc(bytes + 1, 1);
  block.flight = calloc(bytes + 1, 1);
  fibers = calloc(thread_count, sizeof *fibers);
  stacks = mmap(NULL, thread_count * FIBER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  shared = &block;
  while (next_block < block_count) {
    start_block(unfold(block_order[next_block++], emu_now.blocks));
    while (!round_of_threads())
      ;
  }
  shared = NULL;
  current = NULL;
  munmap(stacks, thread_count * FIBER_STACK);
  free(fibers);
  free(block.at);
  free(block.writer);
  free(block.reader);
  free(block.defined);
  free(block.flight);
  stack_low = main_stack_low;
  stack_high = main_stack_high;
  end_launch();
}
