/* The lengths of all shortest paths: a launch for each town on the way; distances are copied once to the device, and once back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void paths(int n, int d[n][n])
{
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];
#pragma endscop
}

/* The same, without a region. */
static void plain_paths(int n, int d[n][n])
{
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        d[i][j] = d[i][j] < d[i][k] + d[k][j] ? d[i][j] : d[i][k] + d[k][j];
}

int main(int argc, char **argv)
{
  const int n = argc > 1 ? atoi(argv[1]) : 50;
  int (*d)[n] = calloc((size_t)n, sizeof *d), (*e)[n] = calloc((size_t)n, sizeof *e);
  if (n < 1 || !d || !e)
    return 1;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      d[i][j] = i == j ? 0 : (i * 7 + j * 3) % 11 < 2 ? 1 + (i + j) % 9 : 1000000;
  memcpy(e, d, sizeof(int[n][n]));
  paths(n, d);
  plain_paths(n, e);
  const int same = memcmp(d, e, sizeof(int[n][n])) == 0;
  printf("shortest paths between %d towns: %s\n", n, same ? "equal to the plain loops" : "DIFFERENT");
  free(d);
  free(e);
  return !same;
}
