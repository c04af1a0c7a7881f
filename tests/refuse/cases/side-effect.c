/* expect: side-effect 6:16 */
void f(int n, int k, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = k++;
#pragma endscop
}
