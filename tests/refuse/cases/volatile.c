/* expect: volatile 6:16 */
void f(int n, volatile double *port, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = port[0];
#pragma endscop
}
