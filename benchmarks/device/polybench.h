/* What programs of PolyBench call for their memory, which is managed, and for time; polybench.cu has it. */
#ifdef __cplusplus
extern "C" {
#endif
void *gpu_calloc(size_t n, size_t size);
void gpu_free(void *at);
void gpu_alone(void); /* waits until no other program is timed */
void gpu_to_device(void);
double gpu_seconds(void);
int gpu_arrays(void);
const void *gpu_array(int k, size_t *bytes);
void gpu_done(void); /* ends the program: what it would print of its results is not needed */
#ifdef __cplusplus
}
#else
/* What array number k adds up to, on the host. */
static inline double gpu_sum_of(int k)
{
    size_t bytes;
    const real *at = gpu_array(k, &bytes);
    double sum = 0;
    for (size_t i = 0; i < bytes / sizeof(real); i++)
        sum += (double)at[i];
    return sum;
}
#endif
