/* expect: not-c 4:26 */
void f(int n, double *a)
{
    auto fill = [&](int) {
#pragma scop
        for (int i = 0; i < n; i++)
            a[i] = 0;
#pragma endscop
    };
    fill(0);
}
