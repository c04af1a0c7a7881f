/* The device of cuda_runtime.h. Blocks of a launch run in random order, and so do the threads of a block.

   Found are: accesses of kernels outside of all device memory, and to memory of the host; reads of device memory that
   nobody wrote since the call began; two threads of a launch that touch the same byte, one of them writing; copies that
   reach outside of device memory, or bring back what nobody wrote; device memory that the host uses; launches with no
   thread, or with more than a block or a grid has; and what block.h says of threads that meet. The first fault ends the
   program with a message.

   Environment: EMU_SEED (order of threads), EMU_FAIL=n (call n of the runtime fails), EMU_MEMORY (bytes of the device),
   EMU_COUNTS (a file for the number of launches, threads and bytes copied). */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cuda_runtime.h"

#ifndef EMU_HOST_MEMORY
#define EMU_HOST_MEMORY 0 /* 1: kernels may use memory of the host, as if it were managed */
#endif

typedef struct {
  char *at;
  size_t bytes, mapped;
  int managed;
  uint64_t *writer, *reader; /* of each byte: launch and thread that touched it last */
  unsigned char *defined;
  unsigned char *flight; /* of shared memory: bytes to which a copy is under way */
} memory;
typedef struct fiber fiber;

enum { MEMORIES = 4096, SPOILT = 0xcb };
#define MANY 0xffffffffu /* threads that read the same byte */
#define ALONE (UINT64_C(1) << 31) /* a time that is a number of barriers, not of a launch */

struct emu_place emu_now;
static memory memories[MEMORIES];
static memory *shared;   /* of the block that runs */
static fiber *current;   /* the thread that runs, where those of a block meet */
static uint64_t epoch;   /* barriers and blocks so far */
static uint64_t barriers_run;
static int used, running;
static uint64_t launch, launches, threads_run, bytes_in, bytes_out, calls;
static const char *kernel_name = "";
static cudaError_t pending = cudaSuccess;
static uint32_t *block_order, *thread_order;
static uint64_t block_count, thread_count, next_block, next_thread, turn;
static uint64_t random_state;
static char *stack_low, *stack_high, *main_stack_low, *main_stack_high;

static void fault(const char *format, ...)
{
  va_list args;
  va_start(args, format);
  fprintf(stderr, "device emulator: ");
  vfprintf(stderr, format, args);
  if (running)
    fprintf(stderr, ", in kernel %s, block %u %u %u, thread %u %u %u", kernel_name, emu_now.block.x, emu_now.block.y, emu_now.block.z,
            emu_now.thread.x, emu_now.thread.y, emu_now.thread.z);
  fprintf(stderr, "\n");
  fflush(stderr);
  _exit(3);
}

static int holds(const memory *m, const void *p)
{
  return m->at && (const char *)p >= m->at && (const char *)p < m->at + m->bytes;
}

static memory *find(const void *p)
{
  static int last;
  if (shared && holds(shared, p))
    return shared;
  if (holds(&memories[last], p))
    return &memories[last];
  for (int k = 0; k < used; k++)
    if (holds(&memories[k], p))
      return &memories[last = k];
  return NULL;
}

/* Memory near one of the device's, to say more of an address that is in none. */
static int near_one(const void *p)
{
  for (int k = 0; k < used; k++)
    if (memories[k].at && (const char *)p >= memories[k].at - memories[k].mapped
        && (const char *)p < memories[k].at + 2 * memories[k].mapped)
      return 1;
  return 0;
}

static void on_segv(int number, siginfo_t *info, void *context)
{
  (void)context;
  if (find(info->si_addr))
    fault("the host uses memory of the device");
  signal(number, SIG_DFL);
}

static uint32_t random_below(uint64_t n)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state % n);
}

static uint32_t *shuffled(uint64_t n)
{
  uint32_t *order = malloc(n * sizeof *order);
  for (uint64_t k = 0; k < n; k++)
    order[k] = (uint32_t)k;
  for (uint64_t k = n; k > 1; k--) {
    const uint32_t other = random_below(k), saved = order[k - 1];
    order[k - 1] = order[other];
    order[other] = saved;
  }
  return order;
}

static void write_counts(void)
{
  const char *name = getenv("EMU_COUNTS");
  FILE *file = name ? fopen(name, "w") : NULL;
  if (!file)
    return;
  fprintf(file, "launches %llu\nthreads %llu\nbytes_in %llu\nbytes_out %llu\nbarriers %llu\n",
          (unsigned long long)launches, (unsigned long long)threads_run, (unsigned long long)bytes_in, (unsigned long long)bytes_out,
          (unsigned long long)barriers_run);
  fclose(file);
}

static void start(void)
{
  static int started;
  if (started++)
    return;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_segv;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  const char *seed = getenv("EMU_SEED");
  random_state = 88172645463325252u + (seed ? strtoull(seed, NULL, 10) : 0) * 2654435761u;
  atexit(write_counts);
}

/* Counts a call of the runtime; the one that is to fail does. */
static cudaError_t called(void)
{
  start();
  const char *which = getenv("EMU_FAIL");
  calls++;
  return which && strtoull(which, NULL, 10) == calls ? cudaErrorLaunchFailure : cudaSuccess;
}

static void reachable(memory *m, int yes)
{
  if (!m->managed)
    mprotect(m->at, m->mapped, yes ? PROT_READ | PROT_WRITE : PROT_NONE);
}

static cudaError_t reserve(void **at, size_t bytes, int managed)
{
  const cudaError_t error = called();
  const char *limit = getenv("EMU_MEMORY");
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t total = bytes;
  if (error != cudaSuccess)
    return error;
  for (int k = 0; k < used; k++)
    total += memories[k].at ? memories[k].bytes : 0;
  if (limit && total > strtoull(limit, NULL, 10))
    return cudaErrorMemoryAllocation;
  int k = 0;
  while (k < used && memories[k].at)
    k++;
  if (k == MEMORIES)
    return cudaErrorMemoryAllocation;
  used = k == used ? used + 1 : used;
  memory *m = &memories[k];
  m->bytes = bytes;
  m->managed = managed;
  m->mapped = (bytes + page) / page * page;
  m->at = mmap(NULL, m->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (m->at == MAP_FAILED) {
    m->at = NULL;
    return cudaErrorMemoryAllocation;
  }
  memset(m->at, SPOILT, bytes);
  m->writer = calloc(bytes + 1, sizeof *m->writer);
  m->reader = calloc(bytes + 1, sizeof *m->reader);
  m->defined = calloc(bytes + 1, 1);
  reachable(m, 0);
  *at = m->at;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **at, size_t bytes) { return reserve(at, bytes, 0); }

cudaError_t cudaMallocManaged(void **at, size_t bytes)
{
  const cudaError_t error = reserve(at, bytes, 1);
  if (error == cudaSuccess)
    memset(find(*at)->defined, 1, bytes);
  return error;
}

cudaError_t cudaFree(void *at)
{
  start();
  memory *m = at ? find(at) : NULL;
  if (!at)
    return called();
  if (!m || m->at != at)
    fault("memory is given back that was not taken");
  munmap(m->at, m->mapped);
  free(m->writer);
  free(m->reader);
  free(m->defined);
  m->at = NULL;
  return cudaSuccess;
}

void emu_forget(void *at, size_t bytes)
{
  memory *m = bytes ? find(at) : NULL;
  if (m)
    memset(m->defined + ((char *)at - m->at), 0, bytes);
}

void emu_spoil(void *host, void *device, size_t bytes)
{
  (void)device;
  memset(host, SPOILT, bytes);
}

void emu_spoilt(void *host, void *device, size_t bytes)
{
  (void)device;
  for (size_t k = 0; k < bytes; k++)
    if (((unsigned char *)host)[k] != SPOILT)
      fault("the host has changed an element that the device alone has");
}

void emu_same(void *host, void *device, size_t bytes)
{
  memory *m = find(device);
  if (!m)
    fault("an array that stays on the device has no memory there");
  reachable(m, 1);
  const int same = memcmp(host, device, bytes) == 0;
  reachable(m, 0);
  if (!same)
    fault("a stale copy: the host has changed an element since it was copied to the device");
}

static memory *inside(const void *p, size_t bytes, const char *what)
{
  memory *m = find(p);
  if (!m)
    fault("%s, but its end on the device is no memory of the device", what);
  if ((const char *)p + bytes > m->at + m->bytes)
    fault("%s, %zu bytes beyond memory of the device", what, (size_t)((const char *)p + bytes - (m->at + m->bytes)));
  return m;
}

static void row(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  const int in = kind == cudaMemcpyHostToDevice;
  const char *what = in ? "something is copied to the device" : "something is copied from the device";
  memory *m = inside(in ? to : from, bytes, what);
  const size_t first = (size_t)((const char *)(in ? to : from) - m->at);
  if (find(in ? from : to) && !find(in ? from : to)->managed)
    fault("%s, but its end on the host is memory of the device", what);
  for (size_t k = first; k < first + bytes; k++)
    if (in)
      m->defined[k] = 1;
    else if (!m->defined[k])
      fault("a byte is copied from the device that nobody wrote");
  reachable(m, 1);
  memcpy(to, from, bytes);
  reachable(m, 0);
  *(in ? &bytes_in : &bytes_out) += bytes;
}

/* From one place on the device to another: what nobody wrote stays so. */
static void moved(void *to, const void *from, size_t bytes)
{
  memory *a = inside(to, bytes, "something is copied on the device"), *b = inside(from, bytes, "something is copied on the device");
  reachable(a, 1);
  reachable(b, 1);
  memcpy(to, from, bytes);
  memcpy(a->defined + ((char *)to - a->at), b->defined + ((const char *)from - b->at), bytes);
  reachable(a, 0);
  reachable(b, 0);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
  const cudaError_t error = called();
  if (error == cudaSuccess && bytes && kind == cudaMemcpyDeviceToDevice)
    moved(to, from, bytes);
  else if (error == cudaSuccess && bytes)
    row(to, from, bytes, kind);
  return error;
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind)
{
  const cudaError_t error = called();
  if (error != cudaSuccess)
    return error;
  if (width > to_pitch || width > from_pitch)
    return cudaErrorInvalidValue;
  for (size_t k = 0; k < height; k++)
    row((char *)to + k * to_pitch, (const char *)from + k * from_pitch, width, kind);
  return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
  const cudaError_t error = called(), before = pending;
  pending = cudaSuccess;
  return before != cudaSuccess ? before : error;
}

cudaError_t cudaDeviceSynchronize(void) { return called(); }

const char *cudaGetErrorString(cudaError_t error)
{
  return error == cudaSuccess                     ? "no error"
         : error == cudaErrorMemoryAllocation     ? "out of memory"
         : error == cudaErrorNoDevice             ? "no device"
         : error == cudaErrorInvalidConfiguration ? "invalid configuration"
                                                  : "unspecified launch failure";
}

static void all_reachable(int yes)
{
  for (int k = 0; k < used; k++)
    if (memories[k].at)
      reachable(&memories[k], yes);
}

/* Shared memory of a block, as far as it was asked for; this is an sm_90. */
static size_t most_shared = 48 << 10;

cudaError_t emu_most_shared(const void *kernel, int bytes)
{
  (void)kernel;
  const cudaError_t error = called();
  if (error != cudaSuccess || bytes > 232448)
    return error != cudaSuccess ? error : cudaErrorInvalidValue;
  most_shared = (size_t)bytes > most_shared ? (size_t)bytes : most_shared;
  return cudaSuccess;
}

int emu_begin(const char *kernel, emu_index blocks, emu_index threads, size_t shared_bytes)
{
  pthread_attr_t attributes;
  size_t size;
  void *low;
  start();
  block_count = (uint64_t)blocks.x * blocks.y * blocks.z;
  thread_count = (uint64_t)threads.x * threads.y * threads.z;
  if (!block_count || !thread_count || thread_count > 1024 || threads.z > 64 || blocks.y > 65535 || blocks.z > 65535
      || blocks.x > 2147483647u || shared_bytes > most_shared) {
    pending = cudaErrorInvalidConfiguration;
    return 0;
  }
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    stack_low = low;
    stack_high = (char *)low + size;
    main_stack_low = stack_low;
    main_stack_high = stack_high;
  }
  kernel_name = kernel;
  emu_now.blocks = blocks;
  emu_now.threads = threads;
  block_order = shuffled(block_count);
  thread_order = shuffled(thread_count);
  next_block = next_thread = turn = 0;
  launch++;
  launches++;
  all_reachable(1);
  return 1;
}

static emu_index unfold(uint32_t n, emu_index sides)
{
  const emu_index found = { n % sides.x, n / sides.x % sides.y, n / sides.x / sides.y };
  return found;
}

static void end_launch(void)
{
  free(block_order);
  free(thread_order);
  all_reachable(0);
}

int emu_next(void)
{
  running = 0;
  if (next_thread == thread_count) {
    next_thread = 0;
    next_block++;
  }
  if (next_block == block_count) {
    end_launch();
    return 0;
  }
  emu_now.block = unfold(block_order[next_block], emu_now.blocks);
  emu_now.thread = unfold(thread_order[next_thread++], emu_now.threads);
  turn++;
  threads_run++;
  running = 1;
  return 1;
}

static uint64_t own_turn(void);

/* A thread's own variables: registers of a device. */
static int own(const void *p) { return (const char *)p >= stack_low && (const char *)p < stack_high; }

/* One access of a kernel. */
static void touch(const void *p, size_t bytes, int write)
{
  if (!running || own(p))
    return;
  if (current && (const char *)p >= main_stack_low && (const char *)p < main_stack_high)
    return; /* arguments of the kernel */
  if ((const char *)p >= (const char *)&emu_now && (const char *)p < (const char *)(&emu_now + 1))
    return;
  memory *m = find(p);
  if (!m) {
    if (EMU_HOST_MEMORY)
      return;
    fault(near_one(p) ? "%s outside of an array" : "%s of memory of the host", write ? "a store" : "a load");
  }
  const size_t first = (size_t)((const char *)p - m->at);
  if (first + bytes > m->bytes)
    fault("%s beyond the end of an array", write ? "a store" : "a load");
  if (m->flight && memchr(m->flight + first, 1, bytes))
    fault("%s of shared memory to which a copy is under way", write ? "a store" : "a load");
  if (first % bytes)
    fault("%s that is not aligned", write ? "a store" : "a load");
  const int alone = current && block_count == 1; /* barriers order all that the launch does */
  const uint64_t now = m == shared ? epoch : alone ? ALONE | (epoch & (ALONE - 1)) : launch, me = now << 32 | (own_turn() & MANY);
  const char *const where = m == shared || alone ? "threads of a block, with no barrier between," : "threads of a launch";
  for (size_t k = first; k < first + bytes; k++) {
    const uint64_t writer = m->writer[k], reader = m->reader[k];
    if (writer >> 32 == now && writer != me)
      fault("two %s %s the same element", where, write ? "write" : "write and read");
    if (!write && !m->defined[k])
      fault("a load of an element that nobody wrote");
    if (write && reader >> 32 == now && reader != me)
      fault("two %s read and write the same element", where);
    if (write) {
      m->writer[k] = me;
      m->defined[k] = 1;
    } else {
      m->reader[k] = reader >> 32 == now && reader != me ? now << 32 | MANY : me;
    }
  }
}

#include "block.h"

static uint64_t own_turn(void) { return current ? current->turn : turn; }

void emu_aligned(const void *p, size_t bytes)
{
  if (!own(p) && (size_t)p % bytes)
    fault("an access to %zu bytes that is not aligned", bytes);
}

/* What the compiler calls before accesses. */
#define HOOKS(n) \
  void __tsan_read##n(void *p) { touch(p, n, 0); } \
  void __tsan_write##n(void *p) { touch(p, n, 1); } \
  void __tsan_volatile_read##n(void *p) { touch(p, n, 0); } \
  void __tsan_volatile_write##n(void *p) { touch(p, n, 1); } \
  void __tsan_unaligned_read##n(void *p) { touch(p, n, 0); } \
  void __tsan_unaligned_write##n(void *p) { touch(p, n, 1); } \
  void __tsan_read_write##n(void *p) { touch(p, n, 0), touch(p, n, 1); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
void __tsan_read_range(void *p, size_t n) { touch(p, n, 0); }
void __tsan_write_range(void *p, size_t n) { touch(p, n, 1); }
void __tsan_init(void) { }
void __tsan_func_entry(void *p) { (void)p; }
void __tsan_func_exit(void) { }
void __tsan_vptr_update(void **p, void *v) { (void)p, (void)v; }
void __tsan_vptr_read(void **p) { (void)p; }
