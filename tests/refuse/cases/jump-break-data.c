/* expect: jump 8:13 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        A[i] = 0.0;
        if (A[i] > 0.0)
            break;
    }
#pragma endscop
}
