/* One region that is transformed and one that is not. */
void both(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = 0.0;
#pragma endscop
#pragma scop
    for (int i = 0; i < n; i++)
        while (A[i] > 1.0)
            A[i] -= 1.0;
#pragma endscop
}
