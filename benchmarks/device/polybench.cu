/* Memory and time for programs of PolyBench on a GPU. */
#include <cuda_runtime.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>
#include "polybench.h"

static struct {
  void *at;
  size_t bytes;
} taken[64];
static int count;

void *gpu_calloc(size_t n, size_t size)
{
  void *at = NULL;
  const size_t bytes = n * size ? n * size : 1;
  if (count == 64 || cudaMallocManaged(&at, bytes) != cudaSuccess)
    exit(9);
  memset(at, 0, bytes);
  taken[count].at = at;
  taken[count++].bytes = bytes;
  return at;
}

void gpu_free(void *at) { (void)at; }

void gpu_alone(void)
{
  const int lock = open("../lock", O_CREAT | O_RDWR, 0600);
  const char *limit = getenv("GPU_LIMIT");
  if (lock < 0 || flock(lock, LOCK_EX))
    exit(9);
  alarm(limit ? (unsigned)atoi(limit) : 0); /* from here on; ends the program */
}

void gpu_to_device(void)
{
  for (int k = 0; k < count; k++) {
#if CUDART_VERSION >= 13000
    cudaMemLocation place = {};
    place.type = cudaMemLocationTypeDevice;
    cudaMemPrefetchAsync(taken[k].at, taken[k].bytes, place, 0, 0);
#else
    cudaMemPrefetchAsync(taken[k].at, taken[k].bytes, 0, 0);
#endif
  }
  cudaDeviceSynchronize();
}

double gpu_seconds(void)
{
  struct timespec t;
  cudaDeviceSynchronize();
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int gpu_arrays(void) { return count; }

const void *gpu_array(int k, size_t *bytes)
{
  *bytes = taken[k].bytes;
  return taken[k].at;
}

void gpu_done(void)
{
  fflush(stdout);
  exit(cudaGetLastError() != cudaSuccess);
}
