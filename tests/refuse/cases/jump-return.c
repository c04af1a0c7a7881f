/* expect: jump 7:9 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        A[i] = 0.0;
        return;
    }
#pragma endscop
}
