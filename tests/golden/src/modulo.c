/* Division and remainder by constants. */
void halve(int n, const float *src, float *dst, int *lane)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        dst[i / 2] = src[i];
        lane[i] = i % 8;
    }
#pragma endscop
}
