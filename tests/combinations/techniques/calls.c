/* Functions and macros of the source. Plan: vector S1.j */
#include <math.h>
#define CELL(a, i, j) ((a)[(i) * width + (j)])
static double half(double x) { return 0.5 * x; }
static void smooth(int n, int width, double *a, const double *b)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < width; j++)
      CELL(a, i, j) = half(fabs(CELL(b, i, j))) + sqrt(4.0) + floor(CELL(a, i, j));
#pragma endscop
}
static void run_calls(int n)
{
  smooth(n, n + 1, room[0], room[1]);
}
