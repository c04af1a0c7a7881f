/* What the programs of all techniques have: data that any order of operations gives the same sums of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { ROOM = 64 * 64 };
static double room[8][ROOM];
static int whole[4][ROOM];
static int order[ROOM];
/* Small whole numbers, others for other arrays, and an order of all indices. */
static void fill(int seed)
{
  for (int a = 0; a < 8; a++)
    for (int i = 0; i < ROOM; i++)
      room[a][i] = (double)((i * 7 + a * 5 + seed * 3 + i / 61) % 9 - 4);
  for (int a = 0; a < 4; a++)
    for (int i = 0; i < ROOM; i++)
      whole[a][i] = (i * 11 + a * 3 + seed + i / 59) % 13 - 6;
  for (int i = 0; i < ROOM; i++)
    order[i] = (i * 5 + seed) % ROOM;
}
/* Everything that a nest may have changed, bit by bit but for the sign of zero. */
static void show(const char *name, int size)
{
  unsigned long long sum = 0;
  for (int a = 0; a < 8; a++)
    for (int i = 0; i < ROOM; i++) {
      const double x = room[a][i] + 0.0;
      unsigned long long bits;
      memcpy(&bits, &x, sizeof bits);
      sum = sum * 31 + bits;
    }
  for (int a = 0; a < 4; a++)
    for (int i = 0; i < ROOM; i++)
      sum = sum * 31 + (unsigned long long)whole[a][i];
  printf("%s %d %llx\n", name, size, sum);
}
