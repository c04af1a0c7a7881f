/* expect: unsupported-expression 9:9 */
struct cell {
    double v[3];
};
void f(int n, struct cell *p, struct cell *q)
{
#pragma scop
    for (int i = 0; i < n; i++) {
        p[i].v[1] = 2.0;
        q[i] = p[i];
    }
#pragma endscop
}
