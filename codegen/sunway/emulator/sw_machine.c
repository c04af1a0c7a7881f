/* The machines as numbers, and what their memory controllers take for a command. */
#include <stdlib.h>
#include <string.h>
#include "sw_internal.h"

static const sw_machine machines[] = {
#include "sw_figures.h"
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

static double controller; /* when the memory controller is free again */

double sw_served(sw_core *me, const sw_command *c)
{
  const long block = c->bsize && c->stride ? c->bsize : c->len;
  double slow = 1;
  for (int k = 0; k < 4; k++)
    if (sw_now->slow[k][0] > 0 && block / 16 == (long)sw_now->slow[k][0] / 16)
      slow = sw_now->slow[k][1];
  const double first = me->clock + sw_now->startup;
  const double rows = sw_now->row * (double)(c->len / block), bytes = sw_now->byte * (double)c->len;
  controller = (first > controller ? first : controller) + sw_now->command + slow * (rows + bytes);
  me->channel = (first > me->channel ? first : me->channel) + sw_now->core_byte * (double)c->len;
  return controller > me->channel ? controller : me->channel;
}

int sw_any_form(void)
{
  static unsigned seed = 1;
  seed = seed * 1103515245u + 12345u;
  return (seed >> 16) % 4 == 0;
}
