/* expect: volatile 7:9 */
extern _Atomic int count;
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        count += 1;
#pragma endscop
}
