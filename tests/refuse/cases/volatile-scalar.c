/* expect: volatile 7:16 */
extern volatile double ticks;
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        A[i] = ticks;
#pragma endscop
}
