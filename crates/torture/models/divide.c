/* stdlib.h: quotient and remainder at once. Fields: numerator, denominator. */
#include "harness.h"
#include <inttypes.h>

#define DIVIDE(name, type, result_type)                                                            \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        type numerator = (type)take_number(world), denominator = (type)take_number(world);         \
        result_type result = CALL(world, name, (numerator, denominator));                          \
        PUT(world, result.quot);                                                                   \
        PUT(world, result.rem);                                                                    \
    }
DIVIDE(div, int, div_t)
DIVIDE(ldiv, long, ldiv_t)
DIVIDE(lldiv, long long, lldiv_t)
DIVIDE(imaxdiv, intmax_t, imaxdiv_t)

FAMILY(CHECK(div), CHECK(ldiv), CHECK(lldiv), CHECK(imaxdiv))
