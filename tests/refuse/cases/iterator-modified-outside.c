/* expect: iterator-modified 6:9 */
void f(int n, int i, double A[n])
{
#pragma scop
    for (int t = 0; t < n; t++) {
        for (i = 0; i < n; i++)
            A[i] += t;
        A[i - 1] = 0;
        i = 7;
    }
#pragma endscop
}
