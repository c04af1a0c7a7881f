/* A plate that warms up from an edge, in a loop of its own over time. Its grids stay on the device; what is printed comes home. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void step(int n, double u[n][n], double v[n][n])
{
#pragma scop
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
#pragma endscop
}

/* The same, without a region. */
static void plain_step(int n, double u[n][n], double v[n][n])
{
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      v[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]);
}

static double (*plate(int n))[]
{
  double (*u)[n] = calloc((size_t)n, sizeof *u);
  for (int j = 0; u && j < n; j++)
    u[0][j] = 100;
  return u;
}

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 60, n = argc > 2 ? atoi(argv[2]) : 50;
  double (*u)[n] = plate(n), (*v)[n] = plate(n), (*p)[n] = plate(n), (*q)[n] = plate(n), worst = 0;
  if (n < 3 || !u || !v || !p || !q)
    return 1;
#pragma tilewright data
  for (int t = 0; t < steps; t++) {
    step(n, u, v);
    double (*w)[n] = u;
    u = v;
    v = w;
    if (t % 20 == 19)
      printf("after %3d steps: %8.4f near the hot edge\n", t + 1, u[1][n / 2]);
  }
#pragma tilewright end data
  for (int t = 0; t < steps; t++) {
    plain_step(n, p, q);
    double (*w)[n] = p;
    p = q;
    q = w;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      worst = fmax(worst, fabs(u[i][j] - p[i][j]));
  printf("%d steps on %d x %d points: %s\n", steps, n, n, worst == 0 ? "equal to the plain loops" : "DIFFERENT");
  free(u);
  free(v);
  free(p);
  free(q);
  return worst != 0;
}
