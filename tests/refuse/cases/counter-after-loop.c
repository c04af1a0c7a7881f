/* expect: counter-after-loop 10:16 */
void f(int n, double A[n])
{
    int i;
#pragma scop
    for (int j = 0; j < n; j++) {
        if (A[j] > 0.0)
            for (i = 0; i < n; i++)
                A[i] = 0.0;
        A[0] = i;
    }
#pragma endscop
}
