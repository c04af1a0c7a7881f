/* expect: not-c 6:17 */
void f(int n, double *a, const double &scale)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] *= scale;
#pragma endscop
}
