/* expect: side-effect 6:24 */
void f(int n, int k, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = i > 2 ? k++ : 0;
#pragma endscop
}
