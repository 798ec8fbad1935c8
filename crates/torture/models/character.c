/* ctype.h, and the absolute values of numbers. */
#include "harness.h"
#include <ctype.h>
#include <inttypes.h>

/* Field: a character as an int. */
#define CHARACTER(name)                                                                            \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        int result = CALL(world, name, ((int)take_number(world)));                                 \
        PUT(world, result);                                                                        \
    }
CHARACTER(isalnum)
CHARACTER(isalpha)
CHARACTER(isascii)
CHARACTER(isblank)
CHARACTER(iscntrl)
CHARACTER(isdigit)
CHARACTER(isgraph)
CHARACTER(islower)
CHARACTER(isprint)
CHARACTER(ispunct)
CHARACTER(isspace)
CHARACTER(isupper)
CHARACTER(isxdigit)
CHARACTER(toascii)
CHARACTER(tolower)
CHARACTER(toupper)
CHARACTER(abs)

/* Field: a number. */
#define WIDE(type, name)                                                                           \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        type result = CALL(world, name, (take_number(world)));                                     \
        PUT(world, result);                                                                        \
    }
WIDE(long, labs)
WIDE(long long, llabs)
WIDE(intmax_t, imaxabs)

FAMILY(CHECK(isalnum), CHECK(isalpha), CHECK(isascii), CHECK(isblank), CHECK(iscntrl), CHECK(isdigit),
       CHECK(isgraph), CHECK(islower), CHECK(isprint), CHECK(ispunct), CHECK(isspace), CHECK(isupper),
       CHECK(isxdigit), CHECK(toascii), CHECK(tolower), CHECK(toupper), CHECK(abs), CHECK(labs),
       CHECK(llabs), CHECK(imaxabs))
