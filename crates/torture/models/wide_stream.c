/* wchar.h: input from wide streams.
 *
 * Each world opens the case's field anew, the model's world through standard input's descriptor, so
 * that it is symbolic. Fields: text, number, size of the buffer. */
#include "harness.h"
#include <locale.h>
#include <wchar.h>

static FILE *take_stream(struct world *world, char *buffer)
{
    setlocale(LC_ALL, "C.UTF-8");
    const struct field *field = next_field(world);
    FILE *stream = world->is_real ? fopen("/proc/self/fd/0", "r") : fdopen(dup(0), "r");
    size_t size = (size_t)take_number(world);
    setvbuf(stream, buffer, _IOFBF, size);
    fseeko(stream, field->offset, SEEK_SET);
    return stream;
}

REAL(feof)
REAL(ferror)

static void end_stream(struct world *world, FILE *stream)
{
    int at_end = real_feof(stream), failed = real_ferror(stream), orientation = fwide(stream, 0) > 0;
    PUT(world, at_end);
    PUT(world, failed);
    PUT(world, orientation);
    fclose(stream);
}

enum { largest_buffer = 4096 };

#define CHARACTERS(name)                                                                           \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char buffer[largest_buffer];                                                               \
        FILE *stream = take_stream(world, buffer);                                                 \
        int64_t n = take_number(world);                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            wint_t c = CALL(world, name, (stream));                                                \
            PUT(world, c);                                                                         \
        }                                                                                          \
        end_stream(world, stream);                                                                 \
    }
CHARACTERS(fgetwc)
CHARACTERS(getwc)
CHARACTERS(fgetwc_unlocked)
CHARACTERS(getwc_unlocked)

/* Pushed back, the character before comes again. */
REAL(ungetwc)
static void check_ungetwc(struct world *world)
{
    char buffer[largest_buffer];
    FILE *stream = take_stream(world, buffer);
    int64_t n = take_number(world);
    for (int64_t i = 0; i < n; i++) {
        wint_t c = CALL(world, fgetwc, (stream));
        if (i % 3 == 0)
            c = CALL(world, ungetwc, (c, stream));
        PUT(world, c);
    }
    end_stream(world, stream);
}

#define LINE(name, call)                                                                           \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char buffer[largest_buffer];                                                               \
        FILE *stream = take_stream(world, buffer);                                                 \
        int n = (int)take_number(world);                                                           \
        wchar_t *to = take_room(world, ((size_t)n + 1) * sizeof *to);                              \
        put_place(world, to, CALL(world, name, call));                                             \
        put_place(world, to, CALL(world, name, call));                                             \
        end_stream(world, stream);                                                                 \
    }
wchar_t *__fgetws_chk(wchar_t *to, size_t room, int n, FILE *stream);
LINE(fgetws, (to, n, stream))
LINE(fgetws_unlocked, (to, n, stream))
LINE(__fgetws_chk, (to, (size_t)n + 1, n, stream))

FAMILY(CHECK(fgetwc), CHECK(getwc), CHECK(fgetwc_unlocked), CHECK(getwc_unlocked), CHECK(ungetwc),
       CHECK(fgetws), CHECK(fgetws_unlocked), CHECK(__fgetws_chk))
