/* expect: jump 9:17 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        if (A[i] > 0.0) {
            A[i] = 0.0;
            if (A[i] > 1.0)
                continue;
        }
        A[i] = 1.0;
    }
#pragma endscop
}
