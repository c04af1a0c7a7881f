/* expect: not-c 8:13 */
struct counter {
    double sum;
    void add(int n, const double *a)
    {
#pragma scop
        for (int i = 0; i < n; i++)
            sum += a[i];
#pragma endscop
    }
};
