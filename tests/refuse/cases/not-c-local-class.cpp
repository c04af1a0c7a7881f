/* expect: not-c 7:9 */
void f(int n, double *a)
{
    struct { double x; double &operator[](int) { return x; } } one, a2;
#pragma scop
    for (int i = 0; i < n; i++)
        a2[i] = a[i];
#pragma endscop
    one.x = 0;
}
