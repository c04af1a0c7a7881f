/* expect: region-split 5:1 */
void f(int n, double A[n])
{
    if (n > 2)
#pragma scop
        A[0] = 0.0;
    else
        A[0] = 1.0;
#pragma endscop
}
