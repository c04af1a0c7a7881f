/* expect: not-c 9:16 */
#include <cmath>
namespace fast {
double sqrt(double x);
void f(int n, double *a)
{
#pragma scop
    for (int i = 0; i < n; i++)
        a[i] = sqrt(a[i]);
#pragma endscop
}
}
