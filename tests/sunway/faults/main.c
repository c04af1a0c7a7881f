/* faults KERNEL FAULT: launches a kernel with a fault in it; the results are compared with what they should be. */
#include "faults.h"

const char *fault = "";

typedef void kernel(args *);
static const struct { const char *name; kernel *run; int threads; } kernels[] = {
  { "tiles", tiles, 64 }, { "halo", halo, 64 },       { "table", table, 64 }, { "along", along, 64 },
  { "slices", slices, 64 }, { "directly", directly, 64 }, { "kept", kept, 64 },
};

/* What every kernel should leave in b. */
static void expected(const char *name, const double *a, double *b)
{
  for (int k = 0; k < N * N; k++)
    if (!strcmp(name, "halo"))
      b[k] = k > 1 && k < N * N - 2 ? a[k - 2] + 2 * a[k - 1] + 3 * a[k] + 2 * a[k + 1] + a[k + 2] : 0;
    else if (!strcmp(name, "table"))
      b[k] = a[k] * (k % 8 + 1);
    else if (!strcmp(name, "along"))
      b[k] = k < 64 * 4 ? a[k / 32 * 32 + k % 4] + a[k % 32] : 0;
    else if (!strcmp(name, "slices"))
      b[k] = k < 64 * 32 ? 2 * (a[k / 256 * 256 + k % 32] + a[k % 256]) + (k % 32 == 0 ? 1 : 0) : 0;
    else if (!strcmp(name, "directly"))
      b[k] = k < 64 * 8 ? 3 * a[k] + a[0] : 0;
    else
      b[k] = 2 * a[k] + (strcmp(name, "kept") ? 0 : 1);
  if (!strcmp(name, "kept"))
    for (int k = 64 * 32; k < N * N; k++)
      b[k] = 0;
}

static void launch(kernel *run, args *s, int threads)
{
  if (!is("spawn before init"))
    athread_init();
  athread_set_num_threads(is("65 threads") ? 65 : is("full barrier of 16") || is("column of 16") ? 16 : threads);
  if (is("join first"))
    athread_join();
  if (is("slave call on the management core")) {
    volatile int reply = 0;
    athread_get(PE_MODE, s->a, s->b, 64, &reply, 0, 0, 0);
  }
  athread_spawn(run, s);
  if (is("spawn twice"))
    athread_spawn(run, s);
  if (is("result before join"))
    printf("%g\n", s->b[17]);
  if (is("operand changed before join"))
    s->a[N + 3] = 5;
  athread_join();
  athread_halt();
}

int main(int argc, char **argv)
{
  const char *const name = argc > 1 ? argv[1] : "tiles";
  fault = argc > 2 ? argv[2] : "";
  double *a = malloc(N * N * sizeof *a), *b = calloc(N * N, sizeof *b), *c = calloc(N * N, sizeof *c);
  double *want = malloc(N * N * sizeof *want);
  for (int k = 0; k < N * N; k++)
    a[k] = k % 1009 + 0.25;
  args s = { a, b, c, N };
  for (unsigned k = 0; k < sizeof kernels / sizeof *kernels; k++)
    if (!strcmp(kernels[k].name, name))
      launch(kernels[k].run, &s, kernels[k].threads);
  expected(name, a, want);
  sw_expect("b", b, want, N * N * (long)sizeof *b);
  printf("equal\n");
  return 0;
}
