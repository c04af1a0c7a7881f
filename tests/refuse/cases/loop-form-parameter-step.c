/* expect: loop-form 5:5 */
void f(unsigned n, unsigned s, double A[n])
{
#pragma scop
    for (unsigned i = 0; i < n; i += s)
        A[i] = 0.0;
#pragma endscop
}
