/* expect: jump 6:5 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
    again:
        A[i] = 0.0;
    }
#pragma endscop
}
