/* A plate with one hot edge: on the device, and by the plain loops, to compare. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "heat.h"

int main(int argc, char **argv)
{
  const int steps = argc > 1 ? atoi(argv[1]) : 20, n = argc > 2 ? atoi(argv[2]) : 60;
  if (steps < 0 || n < 1) {
    fprintf(stderr, "usage: device [steps] [points along a side]\n");
    return 2;
  }
  const size_t bytes = sizeof(double[n][n]);
  double (*a[2])[n] = { calloc(1, bytes), calloc(1, bytes) }, (*b)[n] = calloc(1, bytes);
  if (!a[0] || !a[1] || !b)
    return 1;
  for (int k = 0; k < 2; k++)
    for (int j = 0; j < n; j++)
      a[k][0][j] = 100;
  heat(steps, n, a[0], b);
  memset(b, 0, bytes);
  heat_plain(steps, n, a[1], b);
  const int same = memcmp(a[0], a[1], bytes) == 0;
  printf("%d steps on %d x %d points: %s\n", steps, n, n, same ? "equal to the plain loops" : "DIFFERENT");
  free(a[0]);
  free(a[1]);
  free(b);
  return !same;
}
