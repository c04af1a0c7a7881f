/* What compiled code does to memory by itself: every load and store of a file that was compiled with
 * -fsanitize=kernel-address calls one of these functions first, and its frames have guard zones around their objects.
 * The runtime library of that option is not used: this is all of it. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "slave.h"
#include "sw_internal.h"
#include "sw_shadow.h"

enum { PAGE = 4096, LEFT = 0xf1, BETWEEN = 0xf2, RIGHT = 0xf3, MAGIC = 0x41b58ab3 };

/* -- guard zones ------------------------------------------------------------------------------------------------- */

void sw_shadow_of(const char *p, long bytes)
{
  char *const from = (char *)((uintptr_t)sw_shadow(p) & ~(uintptr_t)(PAGE - 1));
  const size_t size = (size_t)((char *)sw_shadow(p + bytes) - from + PAGE) & ~(size_t)(PAGE - 1);
  if (mmap(from, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    sw_fail("memory", "athread", 0, "no memory for guard zones");
}

static int guard(unsigned char s) { return s == LEFT || s == BETWEEN || s == RIGHT; }

long sw_guards(const char *from, const char *to)
{
  long found = 0;
  for (const unsigned char *s = sw_shadow(from); s < sw_shadow(to); s++)
    found += 8 * guard(*s);
  return found;
}

/* The last object in front of p of the frame that p lies in, from the description that the compiler left there. */
static const char *object_before(const char *p, char *name, size_t room)
{
  const unsigned char *s = sw_shadow(p);
  while (*s != LEFT && s > sw_shadow(p) - 8192)
    s--;
  while (s[-1] == LEFT)
    s--;
  const uintptr_t *const frame = (const uintptr_t *)(((uintptr_t)s - SW_SHADOW_AT) << 3);
  snprintf(name, room, "an object");
  if (frame[0] != MAGIC)
    return name;
  int count, used;
  const char *text = (const char *)frame[1];
  if (sscanf(text, "%d%n", &count, &used) != 1)
    return name;
  for (text += used; count--;) {
    long at, size;
    int length;
    if (sscanf(text, " %ld %ld %d %n", &at, &size, &length, &used) != 3 || (const char *)frame + at > p)
      break;
    text += used;
    snprintf(name, room, "%.*s", (int)strcspn(text, ": "), text);
    text += length;
  }
  return name;
}

const char *sw_beyond(const void *p, long bytes)
{
  static char name[80];
  const char *const a = p;
  for (const char *at = a; at < a + bytes; at = (const char *)(((uintptr_t)at | 7) + 1)) {
    const unsigned char s = *sw_shadow(at);
    const long last = at + 8 - ((uintptr_t)at & 7) < a + bytes ? 7 : (long)((uintptr_t)(a + bytes - 1) & 7);
    if (s && (s >= 0x80 || last >= s))
      return object_before(at, name, sizeof name);
  }
  return NULL;
}

/* -- loads and stores --------------------------------------------------------------------------------------------- */

static void watch(int write, const char *p, long bytes)
{
  if (sw_model)
    return;
  if (sw_current < 0) {
    if (sw_running)
      sw_by_master(write, p, bytes);
    return;
  }
  sw_core *const me = &sw_cores[sw_current];
  const int whose = sw_whose(p);
  const char *const file = me->file ? me->file : "athread", *const what = write ? "a store" : "a load";
  if (whose < 0) {
    sw_check_memory(p, bytes, what, file, me->line);
    sw_direct(write, p, bytes);
    return;
  }
  if (whose != sw_current)
    sw_fail("not-local", file, me->line, "after this, %s in the local memory of core %d", what, whose);
  const char *const behind = sw_beyond(p, bytes);
  if (behind)
    sw_fail("ldm-bounds", file, me->line, "after this, %s of %ld bytes lies behind the end of %s", what, bytes, behind);
  if ((const char *)__builtin_frame_address(0) < me->lowest && sw_depth(me, __builtin_frame_address(0)) > sw_local)
    sw_fail("ldm-overflow", file, me->line, "after this, local memory overflows: %ld of %ld bytes are in use",
            sw_totals.ldm_peak, sw_local);
  sw_in_flight(me, write, p, bytes);
  sw_use(me, p, bytes);
}

#define HOOKS(n) \
  void __asan_load##n##_noabort(const char *p) { watch(0, p, n); } \
  void __asan_store##n##_noabort(const char *p) { watch(1, p, n); }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
void __asan_loadN_noabort(const char *p, long n) { watch(0, p, n); }
void __asan_storeN_noabort(const char *p, long n) { watch(1, p, n); }
void __asan_handle_no_return(void) {}
void __asan_alloca_poison(const char *p, long n) { (void)p, (void)n; }
void __asan_allocas_unpoison(const char *top, const char *bottom) { (void)top, (void)bottom; }
void __asan_poison_stack_memory(const char *p, long n) { (void)p, (void)n; }
void __asan_unpoison_stack_memory(const char *p, long n) { (void)p, (void)n; }

/* -- addresses that are none --------------------------------------------------------------------------------------- */

static void segfault(int signal_, siginfo_t *info, void *context)
{
  const char *const at = info->si_addr;
  (void)signal_, (void)context;
  /* Frames of the management core have guard zones, too: their marks get memory when they are first touched. */
  if ((uintptr_t)at >= SW_SHADOW_AT && (uintptr_t)at < SW_SHADOW_AT + SW_SHADOW_SIZE) {
    mmap((void *)((uintptr_t)at & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return;
  }
  if (sw_current < 0) {
    signal(SIGSEGV, SIG_DFL);
    return;
  }
  const sw_core *const me = &sw_cores[sw_current];
  const int whose = sw_whose(at);
  if (whose >= 0)
    sw_fail("ldm-overflow", me->file ? me->file : "athread", me->line, "after this, the stack passes all local memory");
  sw_fail("address", me->file ? me->file : "athread", me->line, "after this, %p is used, where there is no memory",
          (const void *)at);
}

__attribute__((constructor)) static void listen(void)
{
  static char stack[1 << 16];
  const stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
  struct sigaction how = { .sa_sigaction = segfault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
  sigaltstack(&own, NULL);
  sigaction(SIGSEGV, &how, NULL);
  sigaction(SIGBUS, &how, NULL);
}
