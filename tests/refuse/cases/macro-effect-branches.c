/* expect: macro-effect 4:1 */
void f(int n, int *a)
{
#pragma scop
#ifdef WIDE
#define STEP 2
#else
#define STEP 1
#endif
  for (int i = 0; i < n; i++)
    a[i] = i * STEP;
#pragma endscop
}
