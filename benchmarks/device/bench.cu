/* Generated kernels on a GPU: results against plain kernels, bit by bit, and times against cuBLAS and the memory.
   Usage: bench FOLDER, where libcublas.so lies. */
#include "kernels.tw.cu"
#include <dlfcn.h>
#include <math.h>

typedef int (*sgemm_t)(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *,
                       float *, int);
typedef int (*dgemm_t)(void *, int, int, int, int, int, const double *, const double *, int, const double *, int,
                       const double *, double *, int);
static void *handle;
static sgemm_t sgemm;
static dgemm_t dgemm;
static int wrong;

/* Rows are columns there: C' += B' A'. */
static int blas(int n, const float *a, const float *b, float *c)
{
  const float one = 1;
  return sgemm(handle, 0, 0, n, n, n, &one, b, n, a, n, &one, c, n);
}
static int blas(int n, const double *a, const double *b, double *c)
{
  const double one = 1;
  return dgemm(handle, 0, 0, n, n, n, &one, b, n, a, n, &one, c, n);
}
static int ours(int n, const float *a, const float *b, float *c) { return !sproduct_r1_1_tiles(n, a, b, c); }
static int ours(int n, const double *a, const double *b, double *c) { return !dproduct_r2_1_tiles(n, a, b, c); }

template <class T> __global__ void fill(T *a, long n, unsigned seed, int binades)
{
  for (long i = blockIdx.x * 256L + threadIdx.x; i < n; i += gridDim.x * 256L) {
    unsigned long x = (i + 1) * 6364136223846793005ul + seed * 1442695040888963407ul;
    x ^= x >> 31, x *= 0x9e3779b97f4a7c15ul, x ^= x >> 29, x *= 0xbf58476d1ce4e5b9ul, x ^= x >> 32;
    a[i] = (T)ldexp((double)(x >> 12) / 4503599627370496.0 - 0.5, binades ? (int)(x % binades) - binades / 2 : 0);
  }
}
template <class T, int LEAST> __global__ void chain(int n, const T *a, const T *b, T *c)
{
  const long i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i >= n || j >= n)
    return;
  T sum = c[i * n + j];
  for (long k = 0; k < n; k++) {
    const T x = a[i * n + k], y = b[k * n + j];
    sum = LEAST ? (sum < x + y ? sum : x + y) : fma(x, y, sum);
  }
  c[i * n + j] = sum;
}
template <class T> __global__ void differ(long n, const T *x, const T *y, unsigned long long *count)
{
  for (long i = blockIdx.x * 256L + threadIdx.x; i < n; i += gridDim.x * 256L)
    if (!(x[i] == y[i]) || 1 / x[i] != 1 / y[i]) /* zeros have signs */
      atomicAdd(count, 1ull);
}
/* Registers only: what a step can reach at most. */
__global__ void most(float *out, int steps, float x)
{
  float sum[64];
  for (int k = 0; k < 64; k++)
    sum[k] = k + threadIdx.x;
  for (int s = 0; s < steps; s++)
#pragma unroll
    for (int k = 0; k < 64; k++) {
      const float y = x * s + (k & 7);
      sum[k] = sum[k] < y ? sum[k] : y;
    }
  float total = 0;
  for (int k = 0; k < 64; k++)
    total += sum[k];
  if (total == 12345)
    *out = total;
}

/* Seconds of one call, the least of several rounds. */
template <class F> static double seconds(F call, int calls, int rounds)
{
  static cudaEvent_t from, to;
  if (!from)
    cudaEventCreate(&from), cudaEventCreate(&to);
  double least = 1e30;
  if (call() || cudaDeviceSynchronize())
    return NAN;
  for (int r = 0; r < rounds; r++) {
    float ms;
    cudaEventRecord(from);
    for (int k = 0; k < calls; k++)
      call();
    cudaEventRecord(to);
    if (cudaEventSynchronize(to) || cudaEventElapsedTime(&ms, from, to))
      return NAN;
    least = fmin(least, ms * 1e-3 / calls);
  }
  return least;
}

template <class T, int LEAST, class F> static void same(const char *name, F call, T *a, T *b, T *c, T *d)
{
  unsigned long long *count, found = 0, total = 0;
  cudaMalloc(&count, 8);
  for (int n : { 512, 1000, 1024, 2047, 3001, 77, 130, 1 }) {
    const long all = (long)n * n;
    fill<<<500, 256>>>(c, all, 3, 0), fill<<<500, 256>>>(d, all, 3, 0);
    cudaMemset(count, 0, 8);
    call(n, a, b, c);
    chain<T, LEAST><<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(n, a, b, d);
    differ<<<500, 256>>>(all, c, d, count);
    if (cudaMemcpy(&found, count, 8, cudaMemcpyDeviceToHost))
      printf("%s: %s\n", name, cudaGetErrorString(cudaGetLastError())), wrong = 1;
    total += found;
  }
  printf("%s: %llu elements differ from a chain of fused multiply-adds\n", name, total);
  wrong |= total != 0;
  cudaFree(count);
}

template <class T> static void products(const char *name)
{
  const int sizes[] = { 512, 1000, 1024, 2047, 2048, 3001, 4096, 8192 };
  const long all = 8192L * 8192;
  T *a, *b, *c, *d;
  cudaMalloc(&a, all * sizeof(T)), cudaMalloc(&b, all * sizeof(T)), cudaMalloc(&c, all * sizeof(T));
  cudaMalloc(&d, all * sizeof(T));
  fill<<<500, 256>>>(a, all, 1, 20), fill<<<500, 256>>>(b, all, 2, 20);
  same<T, 0>(name, [](int n, T *x, T *y, T *z) { return ours(n, x, y, z); }, a, b, c, d);
  double product = 1, worst = 9;
  fill<<<500, 256>>>(a, all, 1, 0), fill<<<500, 256>>>(b, all, 2, 0);
  for (int n : sizes) {
    const double work = 2.0 * n * n * n;
    const int calls = work < 3e9 ? 20 : work < 2e11 ? 4 : 1;
    fill<<<500, 256>>>(c, all, 3, 0);
    const double their = seconds([&] { return handle ? blas(n, a, b, c) : 1; }, calls, 5);
    const double our = seconds([&] { return ours(n, a, b, c); }, calls, 5);
    printf("%s %5d: %6.2f TFLOP/s, cuBLAS %6.2f, ratio %.3f\n", name, n, work / our * 1e-12, work / their * 1e-12,
           their / our);
    product *= their / our;
    worst = fmin(worst, their / our);
  }
  printf("%s: geometric mean of ratios %.3f (asked 0.9), least %.3f (asked 0.75)\n", name, pow(product, 1 / 8.0), worst);
  cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(d);
}

static void semiring(void)
{
  const int n = 4096;
  float *a, *b, *c, *d;
  const long all = (long)n * n;
  cudaMalloc(&a, all * 4), cudaMalloc(&b, all * 4), cudaMalloc(&c, all * 4), cudaMalloc(&d, all * 4);
  fill<<<500, 256>>>(a, all, 1, 0), fill<<<500, 256>>>(b, all, 2, 0);
  same<float, 1>("least sums", [](int k, float *x, float *y, float *z) { return !least_r3_1_tiles(k, x, y, z); }, a, b, c, d);
  const double our = seconds([&] { return !least_r3_1_tiles(n, a, b, c); }, 2, 3);
  const int steps = 2000, blocks = 132 * 8;
  const double bound = seconds([&] { return most<<<blocks, 256>>>(d, steps, 1.5f), 0; }, 2, 3);
  const double at_most = 64.0 * steps * blocks * 256 / bound, reached = (double)n * n * n / our;
  printf("least sums %d: %.2f T steps/s, registers only %.2f, ratio %.3f (asked 0.8)\n", n, reached * 1e-12, at_most * 1e-12,
         reached / at_most);
  cudaFree(a), cudaFree(b), cudaFree(c), cudaFree(d);
}

template <class T, int TURNED> __global__ void sums(int n, const T *a, const T *x, T *y)
{
  const long i = blockIdx.x * 64L + threadIdx.x;
  for (long k = 0; k < n && i < n; k++)
    y[i] = fma(TURNED ? a[k * n + i] : a[i * n + k], x[k], y[i]);
}

template <class T, int TURNED> static void vectors(const char *name, int (*call)(int, T *, T *, T *), double copy, T *a, T *x)
{
  unsigned long long *count, found = 0;
  T *const y = x + 20000, *const z = y + 20000;
  cudaMalloc(&count, 8);
  fill<<<500, 256>>>(a, 16384L * 16384, 1, 20), fill<<<500, 256>>>(x, 20000, 2, 20);
  for (int n : { 16384, 4095, 70 }) {
    fill<<<500, 256>>>(y, 20000, 3, 0), fill<<<500, 256>>>(z, 20000, 3, 0);
    cudaMemset(count, 0, 8);
    call(n, a, x, y);
    sums<T, TURNED><<<(n + 63) / 64, 64>>>(n, a, x, z);
    differ<<<500, 256>>>(n, y, z, count);
    if (cudaMemcpy(&found, count, 8, cudaMemcpyDeviceToHost) || found)
      printf("%s %d: %llu elements differ from a chain of fused multiply-adds\n", name, n, found), wrong = 1;
  }
  for (int n : { 16384, 16383 }) {
    const double rate = sizeof(T) * (double)n * n / seconds([&] { return call(n, a, x, y); }, 1, 3);
    printf("%s %d: %.2f TB/s, of copy %.2f (asked 0.9)\n", name, n, rate * 1e-12, rate / copy);
  }
  cudaFree(count);
}

static void memory(void)
{
  const long all = 16384L * 16384;
  double *a, *b;
  cudaMalloc(&a, all * 8), cudaMalloc(&b, all * 8);
  fill<<<500, 256>>>(a, all, 1, 0), fill<<<500, 256>>>(b, all, 2, 0);
  const double copy = 2.0 * all * 8 / seconds([&] { return (int)cudaMemcpyAsync(b, a, all * 8, cudaMemcpyDeviceToDevice); }, 2, 5);
  printf("copy: %.2f TB/s\n", copy * 1e-12);
  const int anchors[3] = { 222, 199, 216 }, hot[3] = { 202, 170, 202 };
  int k = 0;
  for (int n : { 1300, 2800, 8000 }) {
    const double points = 2.0 * 50 * (n - 2.0) * (n - 2.0) / seconds([&] { return jacobi_r4(50, n, a, b); }, 1, 4);
    printf("jacobi-2d %5d: %6.1f G points/s, by hand %d, ratio %.2f (asked 1.0; over time 2.0)\n", n, points * 1e-9, anchors[k],
           points * 1e-9 / anchors[k]);
    k++;
  }
  k = 0;
  for (int n : { 120, 200, 512 }) {
    const double points = 2.0 * 50 * pow(n - 2.0, 3) / seconds([&] { return heat_r5(50, n, a, b); }, 1, 4);
    printf("heat-3d %5d: %6.1f G points/s, by hand %d, ratio %.2f (asked 1.0; over time 2.0)\n", n, points * 1e-9, hot[k],
           points * 1e-9 / hot[k]);
    k++;
  }
  vectors<double, 0>("f64 matrix times vector", rows_r6, copy, a, b);
  vectors<double, 1>("f64 vector times matrix", columns_r7, copy, a, b);
  vectors<float, 0>("f32 matrix times vector", srows_r8, copy, (float *)a, (float *)b);
  vectors<float, 1>("f32 vector times matrix", scolumns_r9, copy, (float *)a, (float *)b);
  cudaFree(a), cudaFree(b);
}

int main(int argc, char **argv)
{
  char path[2][600];
  int (*create)(void **) = NULL;
  cudaDeviceProp found;
  if (cudaGetDeviceProperties(&found, 0) != cudaSuccess)
    return printf("no GPU: %s\n", cudaGetErrorString(cudaGetLastError())), 2;
  snprintf(path[0], sizeof path[0], "%s/libcublasLt.so.13", argc > 1 ? argv[1] : ".");
  snprintf(path[1], sizeof path[1], "%s/libcublas.so.13", argc > 1 ? argv[1] : ".");
  dlopen(path[0], RTLD_NOW | RTLD_GLOBAL);
  void *library = dlopen(path[1], RTLD_NOW | RTLD_GLOBAL);
  if (library) {
    *(void **)&create = dlsym(library, "cublasCreate_v2");
    *(void **)&sgemm = dlsym(library, "cublasSgemm_v2");
    *(void **)&dgemm = dlsym(library, "cublasDgemm_v2");
  }
  if (!create || create(&handle))
    printf("no cuBLAS in %s: nothing to compare products with\n", argc > 1 ? argv[1] : ".");
  printf("%s, %d multiprocessors\n", found.name, found.multiProcessorCount);
  products<float>("f32");
  products<double>("f64");
  semiring();
  memory();
  return wrong;
}
