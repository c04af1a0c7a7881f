/* expect: not-c 10:9 */
struct number {
    double x;
    number &operator+=(const number &other) { x -= other.x; return *this; }
};
void f(int n, number *a)
{
#pragma scop
    for (int i = 1; i < n; i++)
        a[i] += a[i - 1];
#pragma endscop
}
