/* expect: data-dependent-subscript 7:9 */
union word { int i; float f; };
void f(int n, double A[n], int p[n], union word u[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        u[p[i]].i = 1;
        A[i] = u[i].f;
    }
#pragma endscop
}
