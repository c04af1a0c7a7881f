/* expect: local-declaration 6:37 */
void f(int n, double x[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        struct c { double re, im; } t;
        t.re = x[i];
        t.im = t.re * t.re;
        x[i] = t.im;
    }
#pragma endscop
}
