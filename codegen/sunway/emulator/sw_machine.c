/* The machines as numbers, and what their memory controllers take for a command. */
#include <stdlib.h>
#include <string.h>
#include "sw_internal.h"

static const sw_machine machines[] = {
#include "sw_figures.h"
};
const sw_machine *sw_now = &machines[0];
static const char *chosen; /* what has said so: SW_MACHINE, or a file of the program */

static const sw_machine *named(const char *machine)
{
  for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
    if (!strcmp(machine, machines[k].name))
      return &machines[k];
  return NULL;
}

__attribute__((constructor)) static void choose(void)
{
  const char *name = getenv("SW_MACHINE");
  if (!name || !*name)
    return;
  chosen = "SW_MACHINE";
  sw_now = named(name);
  if (!sw_now)
    sw_fail("machine", "athread", 0, "SW_MACHINE is %s: there are %s and %s", name, machines[0].name, machines[1].name);
}

/* All of a program is for one machine, which does not change once its cores have run. */
void sw_made_for(const char *machine, const char *file)
{
  const sw_machine *const wanted = named(machine);
  const char *const before = chosen ? chosen : "a launch before";
  if (!wanted)
    sw_fail("machine", file, 0, "generated for %s, which this emulator does not know: take the one that comes with the "
            "generator (tilewright --print-emulator)", machine);
  if (wanted != sw_now && chosen && !strcmp(chosen, "SW_MACHINE"))
    sw_fail("machine", file, 0, "generated for %s, and SW_MACHINE is %s: unset it, or generate with --machine %s-cpe",
            machine, sw_now->name, sw_now->name);
  if (wanted != sw_now && (chosen || sw_totals.launches))
    sw_fail("machine", file, 0, "generated for %s, and %s is for %s: generate all files of a program with one --machine%s",
            machine, before, sw_now->name, chosen ? "" : ", or set SW_MACHINE for launches of your own");
  sw_now = wanted;
  chosen = chosen ? chosen : file;
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
