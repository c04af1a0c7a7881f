/* expect: not-c 11:21 */
struct base {
    double scale;
};
struct filter : base {
    int taps;
    void f(int n, double *a)
    {
#pragma scop
        for (int i = 0; i < n; i++)
            a[i] *= scale;
#pragma endscop
    }
};
