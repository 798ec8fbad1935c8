/* stdio.h: input from streams.
 *
 * The model reads standard input itself, which is symbolic; the real functions read another stream of
 * the same file. Both start at the case's field. Fields: text, number. */
#include "harness.h"

REAL(fseeko)
REAL(fopen)

/* This world's stream, standing at the next field. */
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

REAL(feof)
REAL(ftello)

/* Where the stream stands afterwards. */
static void put_stream(struct world *world, FILE *stream)
{
    int at_end = real_feof(stream);
    off_t offset = real_ftello(stream);
    PUT(world, at_end);
    PUT(world, offset);
}

#define CHARACTERS(name, call)                                                                     \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        FILE *stream = take_stream(world);                                                         \
        int64_t n = take_number(world) % 50;                                                       \
        for (int64_t i = 0; i < n; i++) {                                                          \
            int c = CALL(world, name, call);                                                       \
            PUT(world, c);                                                                         \
        }                                                                                          \
        put_stream(world, stream);                                                                 \
    }
CHARACTERS(fgetc, (stream))
CHARACTERS(getc, (stream))
CHARACTERS(fgetc_unlocked, (stream))
CHARACTERS(getc_unlocked, (stream))

/* Pushed back, the character before comes again. */
REAL(ungetc)
static void check_ungetc(struct world *world)
{
    FILE *stream = take_stream(world);
    int64_t n = take_number(world) % 20;
    for (int64_t i = 0; i < n; i++) {
        int c = CALL(world, fgetc, (stream));
        if (i % 3 == 0)
            c = CALL(world, ungetc, (c, stream));
        PUT(world, c);
    }
    put_stream(world, stream);
}

#define LINE(name, call)                                                                           \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        FILE *stream = take_stream(world);                                                         \
        int n = (int)(take_number(world) % 5000);                                                  \
        char *to = take_room(world, (size_t)n + 1);                                                \
        put_place(world, to, CALL(world, name, call));                                             \
        put_place(world, to, CALL(world, name, call));                                             \
        put_stream(world, stream);                                                                 \
    }
char *__fgets_chk(char *to, size_t room, int n, FILE *stream);
LINE(fgets, (to, n, stream))
LINE(fgets_unlocked, (to, n, stream))
LINE(__fgets_chk, (to, (size_t)n + 1, n, stream))

#define BLOCK(name, call)                                                                          \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        FILE *stream = take_stream(world);                                                         \
        size_t n = (size_t)take_number(world) % 9000, size = 1 + n % 7;                            \
        char *to = take_room(world, n);                                                            \
        size_t count = CALL(world, name, call);                                                    \
        PUT(world, count);                                                                         \
        put_stream(world, stream);                                                                 \
    }
size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *stream);
BLOCK(fread, (to, size, n / size, stream))
BLOCK(fread_unlocked, (to, size, n / size, stream))
BLOCK(__fread_chk, (to, n, size, n / size, stream))

/* Three lines into one buffer that grows. */
#define GROWING(name, call)                                                                        \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        FILE *stream = take_stream(world);                                                         \
        int64_t n = take_number(world);                                                            \
        int delimiter = n % 2 ? '\n' : 'q';                                                        \
        char *line = NULL;                                                                         \
        size_t capacity = 0;                                                                       \
        for (int i = 0; i < 3; i++) {                                                              \
            ssize_t length = CALL(world, name, call);                                              \
            PUT(world, length);                                                                    \
            if (length >= 0)                                                                       \
                put(world, line, (size_t)length + 1);                                              \
        }                                                                                          \
        free(line);                                                                                \
        put_stream(world, stream);                                                                 \
        (void)delimiter;                                                                           \
    }
GROWING(getdelim, (&line, &capacity, delimiter, stream))
GROWING(getline, (&line, &capacity, stream))

FAMILY(CHECK(fgetc), CHECK(getc), CHECK(fgetc_unlocked), CHECK(getc_unlocked), CHECK(ungetc),
       CHECK(fgets), CHECK(fgets_unlocked), CHECK(__fgets_chk), CHECK(fread), CHECK(fread_unlocked),
       CHECK(__fread_chk), CHECK(getdelim), CHECK(getline))
