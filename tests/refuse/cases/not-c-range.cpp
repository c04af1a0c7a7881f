/* expect: not-c 7:13 */
void f(int n, double *a)
{
    const int some[] = {1, 2, 3};
#pragma scop
    for (int i = 0; i < n; i++)
        for (int k : some)
            a[i] += k;
#pragma endscop
}
