/* expect: not-c 9:9 */
#include <array>

void f(int n, double *a)
{
    for (std::array<double, 8> a; n > 0; n--) {
#pragma scop
    for (int i = 0; i < 8; i++)
        a[i] = 0;
#pragma endscop
    }
    a[0] = 1;
}
