/* The machines as numbers, and what their memory controllers take for a command. */
#include <stdlib.h>
#include <string.h>
#include "sw_internal.h"

static const sw_machine machines[] = {
#include "sw_figures.h"
};
const sw_machine *sw_now = &machines[0];
long sw_cache, sw_local;
static const char *chosen; /* what has said so: SW_MACHINE, or a file of the program */

static const sw_machine *named(const char *machine)
{
  for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
    if (!strcmp(machine, machines[k].name))
      return &machines[k];
  return NULL;
}

static void choose(const sw_machine *machine, long cache)
{
  sw_now = machine;
  sw_cache = cache;
  sw_local = machine->ldm_bytes - cache;
}

/* SW_MACHINE, and SW_LDM_CACHE in KB, are for launches that nobody has generated. */
__attribute__((constructor)) static void asked(void)
{
  const char *const name = getenv("SW_MACHINE"), *const cache = getenv("SW_LDM_CACHE");
  const sw_machine *const machine = name && *name ? named(name) : &machines[0];
  if (!machine)
    sw_fail("machine", "athread", 0, "SW_MACHINE is %s: there are %s and %s", name, machines[0].name, machines[1].name);
  chosen = name && *name ? "SW_MACHINE" : NULL;
  choose(machine, cache && *cache && machine->cache_bytes ? atol(cache) * 1024 : machine->cache_bytes);
}

/* All of a program is for one machine, which does not change once its cores have run. */
void sw_made_for(const char *machine, int cache, const char *file)
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
  if (cache * 1024L != sw_cache && ((chosen && strcmp(chosen, "SW_MACHINE")) || sw_totals.launches))
    sw_fail("machine", file, 0, "generated for a data cache of %d KB, and %s is for one of %ld KB: generate all files of a "
            "program with one --ldm-cache%s", cache, before, sw_cache / 1024,
            sw_totals.launches ? ", or set SW_LDM_CACHE for launches of your own" : "");
  choose(wanted, cache * 1024L);
  chosen = chosen && strcmp(chosen, "SW_MACHINE") ? chosen : file;
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
