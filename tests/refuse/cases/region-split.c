/* expect: region-split 5:1 */
void f(int n, double A[n])
{
    for (int i = 0; i < n; i++) {
#pragma scop
        A[i] = 0.0;
    }
#pragma endscop
}
