/* The two machines as numbers. Sources of the figures: docs/sunway.md, "The timing model". */
#include <stdlib.h>
#include <string.h>
#include "sw_internal.h"

/* Rate of the whole group by length of contiguous blocks, and the two lengths that are slower than their neighbours. */
static const double sw26010_table[][2] = { { 16, 3362 },   { 32, 6343 },   { 64, 11967 },  { 128, 13356 },
                                           { 192, 19322 }, { 256, 17568 }, { 384, 19725 }, { 512, 21103 },
                                           { 768, 22430 }, { 1024, 23485 }, { 2048, 24642 }, { 3072, 25334 },
                                           { 8192, 26173 } };
static const double bad[][2] = { { 224, 8749 }, { 448, 11486 } };
/* No table is published for the SW26010-Pro: the same shape, scaled by the rate of its memory. */
static const double pro_table[][2] = { { 16, 5043 },    { 32, 9515 },    { 64, 17951 },  { 128, 20034 },
                                       { 192, 28983 },  { 256, 26352 },  { 384, 29588 }, { 512, 31655 },
                                       { 768, 33645 },  { 1024, 35228 }, { 2048, 36963 }, { 3072, 38001 },
                                       { 8192, 39260 } };

static const sw_machine machines[] = {
  { 64 * 1024, 4, 1.45e9, 20000, 300, 270, 11, 32, 36, sw26010_table, 13 },
  { 256 * 1024, 8, 2.25e9, 30000, 300, 400, 30, 64, 36, pro_table, 13 },
};
#ifndef SW_DEFAULT
#define SW_DEFAULT 0
#endif
const sw_machine *sw_now = &machines[SW_DEFAULT];

__attribute__((constructor)) static void choose(void)
{
  const char *name = getenv("SW_MACHINE");
  if (name && !strcmp(name, "sw26010-pro"))
    sw_now = &machines[1];
}

double sw_rate(long bsize)
{
  const double (*t)[2] = sw_now->table;
  const int n = sw_now->rows;
  for (int k = 0; k < 2 && sw_now == &machines[0]; k++)
    if (bsize / 16 == (long)bad[k][0] / 16)
      return bad[k][1];
  if ((double)bsize <= t[0][0])
    return t[0][1] * (double)bsize / t[0][0];
  for (int k = 1; k < n; k++)
    if ((double)bsize <= t[k][0])
      return t[k - 1][1] + (t[k][1] - t[k - 1][1]) * ((double)bsize - t[k - 1][0]) / (t[k][0] - t[k - 1][0]);
  return t[n - 1][1];
}
