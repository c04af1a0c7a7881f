/* expect: unsupported-expression 6:16 */
void f(int n, int A[n])
{
#pragma scop
    for (int i = 0; i < 4; i++)
        A[i] = A[A[i] & 7] = n;
#pragma endscop
}
