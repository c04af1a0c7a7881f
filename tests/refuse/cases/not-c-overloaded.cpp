/* expect: not-c 8:16 */
static double half(double x) { return x / 2; }
static int half(int x) { return x / 2; }
void f(int n, double *a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = half(i);
#pragma endscop
}
double g(double x) { return half(x); }
