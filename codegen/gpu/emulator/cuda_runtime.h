/* A device on the host: enough of CUDA's runtime for generated files, which a C++ compiler then builds.

   Compile with -fsanitize=thread, and link with emulator.c in place of the sanitizer's own library: every access of a
   kernel is then looked at. See emulator.c for what is found. */
#ifndef EMU_CUDA_RUNTIME_H
#define EMU_CUDA_RUNTIME_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __syncthreads() emu_barrier()

typedef enum {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorNoDevice = 100,
  cudaErrorLaunchFailure = 719
} cudaError_t;
typedef enum { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 } cudaFuncAttribute;
typedef enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 } cudaMemcpyKind;

typedef struct {
  unsigned x, y, z;
} emu_index;

#ifdef __cplusplus
extern "C" {
#endif
extern struct emu_place {
  emu_index thread, block, threads, blocks;
} emu_now;
cudaError_t cudaMalloc(void **at, size_t bytes);
cudaError_t cudaMallocManaged(void **at, size_t bytes);
cudaError_t cudaFree(void *at);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind);
cudaError_t cudaGetLastError(void);
cudaError_t cudaDeviceSynchronize(void);
const char *cudaGetErrorString(cudaError_t error);
/* Threads of a launch one after the other: a number for the next one's turn, 0 behind the last. */
int emu_begin(const char *kernel, emu_index blocks, emu_index threads, size_t shared_bytes);
cudaError_t emu_most_shared(const void *kernel, int bytes);
int emu_next(void);
/* Blocks of a launch whose threads meet; what they do then. */
void emu_blocks(size_t bytes, void (*call)(void *), void *argument);
void emu_barrier(void);
void *emu_shared(void);
void emu_aligned(const void *p, size_t bytes);
void emu_async(void *to, const void *from, size_t bytes);
void emu_commit(void);
void emu_wait(unsigned behind);
void emu_mma(int m, int k, double *c, const double *a, const double *b, int fused);
/* What lies there was left by an earlier call, and means nothing. */
void emu_forget(void *at, size_t bytes);
/* Elements on the host and on the device: of those that the device alone has the host's are spoilt. */
void emu_spoil(void *host, void *device, size_t bytes);
void emu_spoilt(void *host, void *device, size_t bytes);
void emu_same(void *host, void *device, size_t bytes);
#ifdef __cplusplus
}

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

template <class Call> static inline void emu_launch(const char *kernel, dim3 blocks, dim3 threads, Call call)
{
  if (emu_begin(kernel, { blocks.x, blocks.y, blocks.z }, { threads.x, threads.y, threads.z }, 0))
    while (emu_next())
      call();
}
template <class Call> static inline void emu_launch_shared(const char *kernel, dim3 blocks, dim3 threads, size_t bytes, Call call)
{
  if (emu_begin(kernel, { blocks.x, blocks.y, blocks.z }, { threads.x, threads.y, threads.z }, bytes))
    emu_blocks(bytes, [](void *c) { (*(Call *)c)(); }, &call);
}
template <class Kernel> static inline cudaError_t cudaFuncSetAttribute(Kernel kernel, cudaFuncAttribute, int bytes)
{
  return emu_most_shared((const void *)kernel, bytes);
}
#define TW_LAUNCH_SHARED(kernel, grid, block, bytes, ...) \
  emu_launch_shared(#kernel, grid, block, bytes, [=] { kernel(__VA_ARGS__); })
#define TW_LAUNCH(kernel, grid, block, ...) emu_launch(#kernel, grid, block, [=] { kernel(__VA_ARGS__); })
#define TW_FORGET(at, bytes) emu_forget(at, bytes)
#endif

#define threadIdx emu_now.thread
#define blockIdx emu_now.block
#define blockDim emu_now.threads
#define gridDim emu_now.blocks

#endif
