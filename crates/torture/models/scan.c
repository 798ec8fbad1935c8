/* stdio.h: formatted input.
 *
 * Fields: text, format. Every conversion finds a room of its own for what it stores, the same for all
 * types. Streams are read as in stream.c: standard input by the model, another stream of the same
 * file by the real functions. */
#include "harness.h"
#include <stdarg.h>

enum { rooms = 6, room_size = 96 };

#define ROOMS(r) r[0], r[1], r[2], r[3], r[4], r[5]

static void take_rooms(struct world *world, void **to)
{
    for (int i = 0; i < rooms; i++)
        to[i] = take_room(world, room_size);
}

int old_sscanf(const char *text, const char *format, ...) __asm__("sscanf");
int old_vsscanf(const char *text, const char *format, va_list list) __asm__("vsscanf");
int old_fscanf(FILE *stream, const char *format, ...) __asm__("fscanf");
int old_vfscanf(FILE *stream, const char *format, va_list list) __asm__("vfscanf");
int c99_sscanf(const char *text, const char *format, ...) __asm__("__isoc99_sscanf");
int c99_vsscanf(const char *text, const char *format, va_list list) __asm__("__isoc99_vsscanf");
int c99_fscanf(FILE *stream, const char *format, ...) __asm__("__isoc99_fscanf");
int c99_vfscanf(FILE *stream, const char *format, va_list list) __asm__("__isoc99_vfscanf");

#define TEXT(name, symbol)                                                                         \
    REAL_AS(name, symbol)                                                                          \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char *text = take_text(world), *format = take_text(world);                                 \
        void *to[rooms];                                                                           \
        take_rooms(world, to);                                                                     \
        errno = 0;                                                                                 \
        int count = CALL(world, name, (text, format, ROOMS(to)));                                  \
        PUT(world, count);                                                                         \
        PUT(world, errno);                                                                         \
    }
TEXT(old_sscanf, "sscanf")
TEXT(c99_sscanf, "__isoc99_sscanf")

#define LISTED_TEXT(name, symbol)                                                                  \
    REAL_AS(name, symbol)                                                                          \
    static int call_##name(struct world *world, const char *text, const char *format, ...)         \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, format);                                                                    \
        int count = CALL(world, name, (text, format, list));                                       \
        va_end(list);                                                                              \
        return count;                                                                              \
    }                                                                                              \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char *text = take_text(world), *format = take_text(world);                                 \
        void *to[rooms];                                                                           \
        take_rooms(world, to);                                                                     \
        int count = call_##name(world, text, format, ROOMS(to));                                   \
        PUT(world, count);                                                                         \
    }
LISTED_TEXT(old_vsscanf, "vsscanf")
LISTED_TEXT(c99_vsscanf, "__isoc99_vsscanf")

REAL(fseeko)
REAL(fopen)
REAL(feof)
REAL(ftello)
REAL(ferror)

static FILE *take_stream(struct world *world)
{
    static FILE *real_stream;
    const struct field *field = next_field(world);
    if (!world->is_real) {
        fseeko(stdin, field->offset, SEEK_SET);
        return stdin;
    }
    if (real_stream == NULL)
        real_stream = real_fopen("/proc/self/fd/0", "r");
    real_fseeko(real_stream, field->offset, SEEK_SET);
    return real_stream;
}

static void put_stream(struct world *world, FILE *stream)
{
    int at_end = real_feof(stream), has_failed = real_ferror(stream);
    off_t offset = real_ftello(stream);
    PUT(world, at_end);
    PUT(world, has_failed);
    PUT(world, offset);
}

/* Twice, so that the second goes on where the first put something back. */
#define STREAM(name, symbol)                                                                       \
    REAL_AS(name, symbol)                                                                          \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        FILE *stream = take_stream(world);                                                         \
        char *format = take_text(world);                                                           \
        void *to[rooms];                                                                           \
        take_rooms(world, to);                                                                     \
        for (int i = 0; i < 2; i++) {                                                              \
            int count = CALL(world, name, (stream, format, ROOMS(to)));                            \
            PUT(world, count);                                                                     \
            put_stream(world, stream);                                                             \
        }                                                                                          \
    }
STREAM(old_fscanf, "fscanf")
STREAM(c99_fscanf, "__isoc99_fscanf")

FAMILY(CHECK(old_sscanf), CHECK(c99_sscanf), CHECK(old_vsscanf), CHECK(c99_vsscanf), CHECK(old_fscanf),
       CHECK(c99_fscanf))
