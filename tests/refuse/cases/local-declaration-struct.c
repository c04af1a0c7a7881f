/* expect: local-declaration 9:18 */
struct c {
    double re, im;
};
void f(int n, struct c x[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        struct c t = x[i];
        x[i].re = t.im;
    }
#pragma endscop
}
