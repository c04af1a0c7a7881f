/* Loops that count down, and one that counts by two. */
void back(int n, double x[n], const double L[n][n])
{
#pragma scop
    for (int i = n - 1; i >= 0; i--)
        for (int j = n - 1; j > i; j--)
            x[i] -= L[j][i] * x[j];
#pragma endscop
}

void odd(int n, double x[n])
{
#pragma scop
    for (int i = n - 1; i >= 1; i -= 2)
        x[i] = 0.0;
#pragma endscop
}
