/* expect: not-c 6:9 */
void f(int n, double *a, double &sum)
{
#pragma scop
    for (int i = 0; i < n; i++)
        sum += a[i];
#pragma endscop
}
