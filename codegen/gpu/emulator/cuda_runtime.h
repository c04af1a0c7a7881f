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

typedef enum {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorNoDevice = 100,
  cudaErrorLaunchFailure = 719
} cudaError_t;
typedef enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 } cudaMemcpyKind;

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
int emu_begin(const char *kernel, emu_index blocks, emu_index threads);
int emu_next(void);
/* What lies there was left by an earlier call, and means nothing. */
void emu_forget(void *at, size_t bytes);
#ifdef __cplusplus
}

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

template <class Call> static inline void emu_launch(const char *kernel, dim3 blocks, dim3 threads, Call call)
{
  if (emu_begin(kernel, { blocks.x, blocks.y, blocks.z }, { threads.x, threads.y, threads.z }))
    while (emu_next())
      call();
}
#define TW_LAUNCH(kernel, grid, block, ...) emu_launch(#kernel, grid, block, [=] { kernel(__VA_ARGS__); })
#define TW_FORGET(at, bytes) emu_forget(at, bytes)
#endif

#define threadIdx emu_now.thread
#define blockIdx emu_now.block
#define blockDim emu_now.threads
#define gridDim emu_now.blocks

#endif
