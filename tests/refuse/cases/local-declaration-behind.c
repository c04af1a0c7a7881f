/* expect: local-declaration 7:9 */
int f(int n, double x[n])
{
    int s = 7;
    {
#pragma scop
    int s = 0;
    for (int i = 0; i < n; i++) {
        x[i] += 1;
        s += i;
    }
#pragma endscop
        x[0] = s;
    }
    return s;
}
