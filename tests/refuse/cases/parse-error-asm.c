/* expect: parse-error 7:9 */
void f(int n, double A[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        A[i] = 0.0;
        __asm__("");
    }
#pragma endscop
}
