/* string.h: lengths and searching. */
#include "harness.h"

/* Fields: text, number. */
#define IN_TEXT(name, call)                                                                        \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char *s = take_text(world);                                                                \
        int64_t n = take_number(world);                                                            \
        void *place = (void *)CALL(world, name, call);                                             \
        put_place(world, s, place);                                                                \
        (void)n;                                                                                   \
    }
/* A function that gives a length, as if it were a place. */
#define LENGTH(name, call)                                                                         \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char *s = take_text(world);                                                                \
        int64_t n = take_number(world);                                                            \
        size_t length = CALL(world, name, call);                                                   \
        PUT(world, length);                                                                        \
        (void)n;                                                                                   \
    }
/* Fields: text, text. */
#define TWO_TEXTS(type, name, record)                                                              \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char *s = take_text(world), *t = take_text(world);                                         \
        type result = CALL(world, name, (s, t));                                                   \
        record;                                                                                    \
    }

LENGTH(strlen, (s))
LENGTH(strnlen, (s, (size_t)n))
IN_TEXT(strchr, (s, (int)n))
IN_TEXT(strrchr, (s, (int)n))
IN_TEXT(strchrnul, (s, (int)n))
TWO_TEXTS(size_t, strspn, PUT(world, result))
TWO_TEXTS(size_t, strcspn, PUT(world, result))
TWO_TEXTS(char *, strpbrk, put_place(world, s, result))
TWO_TEXTS(char *, strstr, put_place(world, s, result))
TWO_TEXTS(char *, strcasestr, put_place(world, s, result))

/* Fields: bytes, character. */
#define IN_BYTES(name, call)                                                                       \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        size_t size;                                                                               \
        unsigned char *s = take_bytes(world, &size);                                               \
        int c = (int)take_number(world);                                                           \
        void *place = CALL(world, name, call);                                                     \
        put_place(world, s, place);                                                                \
    }
IN_BYTES(memchr, (s, c, size))
IN_BYTES(memrchr, (s, c, size))
/* The terminator is always there. */
REAL(rawmemchr)
static void check_rawmemchr(struct world *world)
{
    char *s = take_text(world);
    put_place(world, s, CALL(world, rawmemchr, (s, 0)));
}

REAL(memmem)
static void check_memmem(struct world *world)
{
    size_t size, part_size;
    unsigned char *s = take_bytes(world, &size), *part = take_bytes(world, &part_size);
    put_place(world, s, CALL(world, memmem, (s, size, part, part_size)));
}

FAMILY(CHECK(strlen), CHECK(strnlen), CHECK(strchr), CHECK(strrchr), CHECK(strchrnul), CHECK(strspn),
       CHECK(strcspn), CHECK(strpbrk), CHECK(strstr), CHECK(strcasestr), CHECK(memchr),
       CHECK(memrchr), CHECK(rawmemchr), CHECK(memmem))
