/* expect: macro-effect 6:1 */
int next(void) { return __COUNTER__; }
#define UNIQUE (__COUNTER__ + 1)
void f(int n, int *a)
{
#pragma scop
  for (int i = 0; i < n; i++)
    a[i] = i + UNIQUE;
#pragma endscop
}
