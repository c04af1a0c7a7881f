/* expect: bit-field 12:21 */
struct s {
    struct {
        unsigned b : 3;
    };
    int c;
};
void f(int n, int a[n], const struct s *p)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] += 2 * p[i].b;
#pragma endscop
}
