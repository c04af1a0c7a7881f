/* One byte for eight of memory, in which compiled code marks guard zones between the objects of a stack frame. */
#ifndef SW_SHADOW_H
#define SW_SHADOW_H

#include <stdint.h>

#define SW_SHADOW_AT 0x7fff8000ul /* -fasan-shadow-offset */
#define SW_SHADOW_SIZE (1ul << 45) /* of addresses of 48 bits */

static inline unsigned char *sw_shadow(const void *p)
{
  return (unsigned char *)(((uintptr_t)p >> 3) + SW_SHADOW_AT);
}

void sw_shadow_of(const char *p, long bytes); /* makes it */
long sw_guards(const char *from, const char *to); /* bytes of guard zones */

#endif
