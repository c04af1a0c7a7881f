/* Unsigned sizes: `n - 1` wraps for n == 0, so that case runs the source's own loops. */
void smooth(unsigned n, float a[], const float b[])
{
#pragma scop
    for (unsigned i = 1; i < n - 1; i++)
        a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0f;
#pragma endscop
}
