/* expect: local-declaration 6:35 */
void f(int n, double x[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        struct { double re, im; } t, u;
        t.re = x[i];
        t.im = x[i];
        u = t;
        x[i] = u.im;
    }
#pragma endscop
}
