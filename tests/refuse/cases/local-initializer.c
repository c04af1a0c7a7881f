/* expect: local-initializer 6:16 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        double t[2][1] = {{1.0}, {2.0}};
        A[i] = t[0][0] + t[1][0];
    }
#pragma endscop
}
