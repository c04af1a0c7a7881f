/* expect: region-outside-function 4:1 */
void f(int n, double A[n])
{
#pragma scop
    A[0] = 0.0;
}
void g(int n, double A[n])
{
    A[0] = 0.0;
#pragma endscop
}
