/* expect: switch 6:9 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        switch (i) {
        case 0:
            A[i] = 0.0;
        case 1:
            A[i] += 1.0;
        }
    }
#pragma endscop
}
