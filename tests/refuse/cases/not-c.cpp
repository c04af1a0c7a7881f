/* expect: not-c 6:9 */
void f(int n, double *a)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        auto x = a[i];
        a[i] = x * x;
    }
#pragma endscop
}
