/* expect: always-wraps 5:5 */
void f(int n, double A[n])
{
#pragma scop
    for (unsigned char i = 0; i < 256; i++)
        A[i] = 0.0;
#pragma endscop
}
