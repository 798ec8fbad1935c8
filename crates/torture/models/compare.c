/* string.h and strings.h: comparison. */
#include "harness.h"
#include <strings.h>

/* Fields: two byte strings of one size. */
#define BYTES(name, record)                                                                        \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        size_t size;                                                                               \
        void *a = take_bytes(world, &size), *b = take_bytes(world, &size);                         \
        int result = CALL(world, name, (a, b, size));                                              \
        record;                                                                                    \
    }
BYTES(memcmp, PUT(world, result))
/* Only its being zero means anything. */
BYTES(bcmp, result = result != 0; PUT(world, result))

/* Fields: text, text. */
#define TEXTS(name)                                                                                \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char *a = take_text(world), *b = take_text(world);                                         \
        int result = CALL(world, name, (a, b));                                                    \
        PUT(world, result);                                                                        \
    }
TEXTS(strcmp)
TEXTS(strcasecmp)

/* Fields: text, text, length. */
#define LIMITED(name)                                                                              \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char *a = take_text(world), *b = take_text(world);                                         \
        size_t n = (size_t)take_number(world);                                                     \
        int result = CALL(world, name, (a, b, n));                                                 \
        PUT(world, result);                                                                        \
    }
LIMITED(strncmp)
LIMITED(strncasecmp)

FAMILY(CHECK(memcmp), CHECK(bcmp), CHECK(strcmp), CHECK(strcasecmp), CHECK(strncmp),
       CHECK(strncasecmp))
