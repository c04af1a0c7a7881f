/* expect: nonaffine-subscript 6:11 */
void f(int n, int m, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i / m] = 0.0;
#pragma endscop
}
