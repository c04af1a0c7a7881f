/* Flat arrays: the guard makes sure that every index stays in its row. */
void transpose(int n, int m, int ld, const float *src, float *dst)
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            dst[j * n + i] = src[i * ld + j];
#pragma endscop
}
