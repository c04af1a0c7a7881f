/* expect: unknown-member 7:9 */
struct s;
void f(int n, double A[n], struct s *p)
{
#pragma scop
    for (int i = 0; i < n; i++)
        p->x = A[i];
#pragma endscop
}
