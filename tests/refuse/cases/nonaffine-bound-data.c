/* expect: nonaffine-bound 6:61 */
void f(int n, const int p[n + 1], double A[n], double B[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = p[i]; j < p[i + 1]; j++) { A[j] = 0.0; B[j] = 1.0; }
#pragma endscop
}
