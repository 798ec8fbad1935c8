/* stdlib.h and inttypes.h: integers from text. */
#include "harness.h"
#include <inttypes.h>

long __strtol_internal(const char *text, char **end, int base, int group);
unsigned long __strtoul_internal(const char *text, char **end, int base, int group);

/* Fields: text, base. Once with and once without a place for the end. */
#define CONVERT(type, name, call, call_without_end)                                                \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char *text = take_text(world), *end = text - 1;                                            \
        int base = (int)take_number(world);                                                        \
        errno = 0;                                                                                 \
        type result = CALL(world, name, call);                                                     \
        int error = errno;                                                                         \
        PUT(world, result);                                                                        \
        PUT(world, error);                                                                         \
        put_place(world, text, end);                                                               \
        type again = CALL(world, name, call_without_end);                                          \
        PUT(world, again);                                                                         \
    }
#define PLAIN(type, name) CONVERT(type, name, (text, &end, base), (text, NULL, base))
PLAIN(long, strtol)
PLAIN(unsigned long, strtoul)
PLAIN(long long, strtoll)
PLAIN(unsigned long long, strtoull)
PLAIN(intmax_t, strtoimax)
PLAIN(uintmax_t, strtoumax)
PLAIN(long long, strtoq)
PLAIN(unsigned long long, strtouq)
CONVERT(long, __strtol_internal, (text, &end, base, 0), (text, NULL, base, 0))
CONVERT(unsigned long, __strtoul_internal, (text, &end, base, 0), (text, NULL, base, 0))

#define DECIMAL(type, name)                                                                        \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        type result = CALL(world, name, (take_text(world)));                                       \
        PUT(world, result);                                                                        \
        take_number(world);                                                                        \
    }
DECIMAL(int, atoi)
DECIMAL(long, atol)
DECIMAL(long long, atoll)

FAMILY(CHECK(strtol), CHECK(strtoul), CHECK(strtoll), CHECK(strtoull), CHECK(strtoimax),
       CHECK(strtoumax), CHECK(strtoq), CHECK(strtouq), CHECK(__strtol_internal),
       CHECK(__strtoul_internal), CHECK(atoi), CHECK(atol), CHECK(atoll))
