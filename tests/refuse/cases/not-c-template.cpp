/* expect: not-c 7:9 */
template <typename T>
void f(int n, T *a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = a[i] + 1;
#pragma endscop
}
template void f<double>(int, double *);
