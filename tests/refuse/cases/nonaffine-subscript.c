/* expect: nonaffine-subscript 6:11 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i * i] = 0.0;
#pragma endscop
}
