/* string.h: copying and filling. */
#include "harness.h"
#include <strings.h>

/* More than any copy of a case needs. */
enum { room_size = 200 };

/* The fortified functions, which no header declares. */
void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
void *__mempcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memset_chk(void *to, int c, size_t n, size_t room);
char *__strcpy_chk(char *to, const char *from, size_t room);
char *__stpcpy_chk(char *to, const char *from, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t n, size_t room);
char *__stpncpy_chk(char *to, const char *from, size_t n, size_t room);
char *__strcat_chk(char *to, const char *from, size_t room);
char *__strncat_chk(char *to, const char *from, size_t n, size_t room);

/* Fields: what is there before, text to copy, length. */
#define COPY(name, call)                                                                           \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char *to = take_bytes_in(world, NULL, room_size), *from = take_text(world);                \
        size_t n = (size_t)take_number(world);                                                     \
        void *place = CALL(world, name, call);                                                     \
        put_place(world, to, place);                                                               \
        (void)n;                                                                                   \
    }
COPY(strcpy, (to, from))
COPY(stpcpy, (to, from))
COPY(strncpy, (to, from, n))
COPY(stpncpy, (to, from, n))
COPY(strcat, (to, from))
COPY(strncat, (to, from, n))
COPY(__strcpy_chk, (to, from, room_size))
COPY(__stpcpy_chk, (to, from, room_size))
COPY(__strncpy_chk, (to, from, n, room_size))
COPY(__stpncpy_chk, (to, from, n, room_size))
COPY(__strcat_chk, (to, from, room_size))
COPY(__strncat_chk, (to, from, n, room_size))

/* Fields: what is there before, bytes to copy, number (character or distance). */
#define MOVE(name, call)                                                                           \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        size_t size;                                                                               \
        char *to = take_bytes_in(world, NULL, room_size), *from = take_bytes(world, &size);        \
        int n = (int)take_number(world);                                                           \
        void *place = CALL(world, name, call);                                                     \
        put_place(world, to, place);                                                               \
        (void)n, (void)from;                                                                       \
    }
MOVE(memcpy, (to, from, size))
MOVE(mempcpy, (to, from, size))
MOVE(memccpy, (to, from, n, size))
MOVE(memset, (to + 2, n, size))
MOVE(__memcpy_chk, (to, from, size, room_size))
MOVE(__memmove_chk, (to, from, size, room_size))
MOVE(__mempcpy_chk, (to, from, size, room_size))
MOVE(__memset_chk, (to + 1, n, size, room_size))

/* Within one block, forwards and backwards. */
REAL(memmove)
static void check_memmove(struct world *world)
{
    size_t size;
    char *bytes = take_bytes_in(world, &size, room_size);
    size_t distance = (size_t)take_number(world) % 16;
    put_place(world, bytes, CALL(world, memmove, (bytes + distance, bytes, size)));
    put_place(world, bytes, CALL(world, memmove, (bytes, bytes + distance / 2, size)));
}

REAL(bcopy)
static void check_bcopy(struct world *world)
{
    size_t size;
    char *bytes = take_bytes_in(world, &size, room_size);
    CALL(world, bcopy, (bytes, bytes + 3, size));
}

REAL(bzero)
static void check_bzero(struct world *world)
{
    size_t size;
    char *bytes = take_bytes(world, &size);
    CALL(world, bzero, (bytes + size / 3, size / 2));
}

REAL(explicit_bzero)
static void check_explicit_bzero(struct world *world)
{
    size_t size;
    char *bytes = take_bytes(world, &size);
    CALL(world, explicit_bzero, (bytes + size / 3, size / 2));
}

/* Fields: text, length. The copy is compared like memory that the check took. */
REAL(strdup)
static void check_strdup(struct world *world)
{
    char *text = take_text(world);
    char *copy = CALL(world, strdup, (text));
    adopt(world, copy, strlen(copy) + 1);
}

REAL(strndup)
static void check_strndup(struct world *world)
{
    char *text = take_text(world);
    char *copy = CALL(world, strndup, (text, (size_t)take_number(world)));
    adopt(world, copy, strlen(copy) + 1);
}

FAMILY(CHECK(strcpy), CHECK(stpcpy), CHECK(strncpy), CHECK(stpncpy), CHECK(strcat), CHECK(strncat),
       CHECK(__strcpy_chk), CHECK(__stpcpy_chk), CHECK(__strncpy_chk), CHECK(__stpncpy_chk),
       CHECK(__strcat_chk), CHECK(__strncat_chk), CHECK(memcpy), CHECK(mempcpy), CHECK(memccpy),
       CHECK(memset), CHECK(__memcpy_chk), CHECK(__memmove_chk), CHECK(__mempcpy_chk),
       CHECK(__memset_chk), CHECK(memmove), CHECK(bcopy), CLEARS(bzero), CLEARS(explicit_bzero),
       CHECK(strdup), CHECK(strndup))
