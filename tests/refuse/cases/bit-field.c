/* expect: bit-field 9:9 */
struct s {
    unsigned b : 3;
};
void f(int n, struct s *p)
{
#pragma scop
    for (int i = 0; i < n; i++)
        p[i].b = 1;
#pragma endscop
}
