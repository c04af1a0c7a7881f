/* expect: not-c 7:9 */
#include <utility>
void f(int n, double *a)
{
#pragma scop
    for (int i = 1; i < n; i++)
        std::swap(a[i], a[i - 1]);
#pragma endscop
}
