/* expect: not-c 9:9 */
#include <vector>

void f(int n)
{
    std::vector<double> v(n);
#pragma scop
    for (int i = 0; i < n; i++)
        v[i] = 0;
#pragma endscop
}
