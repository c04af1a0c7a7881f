/* Driver helpers for the kernels whose arrays are not (only) of type `real`:
 * they work on any arithmetic element type.  Include after kernels.h, under
 * DRIVER only. */
#ifndef ANYTYPE_H
#define ANYTYPE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed array of n objects of the type. */
#define MAKE(type, n) ((type *)make_array((size_t)(n) * sizeof(type)))

/* a[i] = expr for 0 <= i < n, where expr may use u, a mixed 32-bit number. */
#define FILL_WITH(a, n, seed, expr)                            \
    do {                                                       \
        for (size_t fw_i = 0; fw_i < (size_t)(n); fw_i++) {    \
            unsigned u = mix((seed), fw_i);                    \
            (a)[fw_i] = (expr);                                \
        }                                                      \
    } while (0)

/* Same line as print_checksum, for any arithmetic element type. */
#define CHECKSUM_OF(name, a, n)                                          \
    do {                                                                 \
        double co_sum = 0.0;                                             \
        unsigned long long co_h = 0xcbf29ce484222325ULL;                 \
        for (size_t co_i = 0; co_i < (size_t)(n); co_i++) {              \
            unsigned char co_b[sizeof(*(a))];                            \
            memcpy(co_b, &(a)[co_i], sizeof co_b);                       \
            for (size_t co_k = 0; co_k < sizeof co_b; co_k++)            \
                co_h = (co_h ^ co_b[co_k]) * 0x100000001b3ULL;           \
            co_sum += (double)(a)[co_i] * (double)(co_i % 1021 + 1);     \
        }                                                                \
        printf("%s %.17g %016llx\n", (name), co_sum, co_h);              \
    } while (0)

#endif /* ANYTYPE_H */
