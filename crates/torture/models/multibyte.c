/* wchar.h and stdlib.h: from bytes to wide characters and back. The first field says in which locale. */
#include "harness.h"
#include <locale.h>
#include <uchar.h>
#include <wchar.h>

static void take_locale(struct world *world)
{
    if (setlocale(LC_ALL, take_number(world) ? "C.UTF-8" : "C") == NULL)
        abort();
}

static void put_state(struct world *world, const mbstate_t *state)
{
    put(world, &state->__count, sizeof state->__count);
    /* Without a partial character, glibc leaves anything here. */
    if (state->__count != 0)
        put(world, &state->__value.__wch, sizeof state->__value.__wch);
}

/* Fields: bytes, how many of them come first: the state after these is where it starts. */
static const char *take_start(struct world *world, size_t *size, mbstate_t *state)
{
    const char *bytes = take_bytes(world, size);
    size_t first = (size_t)take_number(world);
    memset(state, 0, sizeof *state);
    if (mbrlen(bytes, first, state) != (size_t)-2)
        memset(state, 0, sizeof *state);
    *size -= first;
    return bytes + first;
}

/* In pieces, with and without a target, until nothing more can be read. Fields: bytes, size of a
 * piece. */
#define IN_PIECES(name, type, begin, call, ...)                                                          \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        take_locale(world);                                                                        \
        size_t size, piece;                                                                        \
        const char *bytes = take_bytes(world, &size);                                              \
        piece = (size_t)take_number(world);                                                        \
        mbstate_t state = {0};                                                                     \
        type to = 0;                                                                               \
        (void)to;                                                                                  \
        (void)state;                                                                               \
        begin;                                                                                     \
        for (size_t at = 0; at < size && at + piece <= size;) {                                    \
            errno = 0;                                                                             \
            size_t result = (size_t)CALL(world, name, call);                                       \
            PUT(world, result);                                                                    \
            PUT(world, errno);                                                                     \
            __VA_ARGS__;                                                                           \
            at += result == (size_t)-1 || result == (size_t)-2 ? (piece > 0 ? piece : 1)           \
                  : result > 0                                 ? result                            \
                                                               : 1;                                \
        }                                                                                          \
    }
IN_PIECES(mbrtowc, wchar_t, , (&to, bytes + at, piece, &state), PUT(world, to);
          put_state(world, &state))
IN_PIECES(mbrtoc32, char32_t, , (&to, bytes + at, piece, &state), PUT(world, to))
IN_PIECES(mbrlen, wchar_t, , (bytes + at, piece, &state), put_state(world, &state))
IN_PIECES(mbtowc, wchar_t, CALL(world, mbtowc, (NULL, NULL, 0)), (&to, bytes + at, piece),
          PUT(world, to))
IN_PIECES(mblen, wchar_t, , (bytes + at, piece))

/* Without a state of the caller's, one byte at a time. Field: valid text, which leaves the
 * function's own state as it was. */
static void check_mbrtowc_own_state(struct world *world)
{
    take_locale(world);
    size_t size;
    const char *bytes = take_bytes(world, &size);
    for (size_t at = 0; at < size; at++) {
        wchar_t to = 0;
        size_t result = CALL(world, mbrtowc, (&to, bytes + at, 1, NULL));
        PUT(world, result);
        PUT(world, to);
    }
    size_t result = CALL(world, mbrtowc, (NULL, NULL, 0, NULL));
    PUT(world, result);
}

REAL(mbsinit)
static void check_mbsinit(struct world *world)
{
    take_locale(world);
    size_t size;
    mbstate_t state;
    take_start(world, &size, &state);
    int result = !CALL(world, mbsinit, (&state));
    PUT(world, result);
}

/* Fields: as take_start; most characters, most bytes; whether there is a target. */
REAL(mbsnrtowcs)
static void check_mbsnrtowcs(struct world *world)
{
    take_locale(world);
    size_t size;
    mbstate_t state;
    const char *text = take_start(world, &size, &state), *from = text;
    size_t most = (size_t)take_number(world), limit = (size_t)take_number(world);
    wchar_t *to = take_number(world) ? take_room(world, 64 * sizeof *to) : NULL;
    size_t result = CALL(world, mbsnrtowcs, (to, &from, limit, most, &state));
    PUT(world, result);
    put_place(world, text, from);
    if (result != (size_t)-1)
        put_state(world, &state);
}

REAL(mbsrtowcs)
static void check_mbsrtowcs(struct world *world)
{
    take_locale(world);
    size_t size;
    mbstate_t state;
    const char *text = take_start(world, &size, &state), *from = text;
    size_t most = (size_t)take_number(world);
    take_number(world);
    wchar_t *to = take_number(world) ? take_room(world, 64 * sizeof *to) : NULL;
    size_t result = CALL(world, mbsrtowcs, (to, &from, most, &state));
    PUT(world, result);
    put_place(world, text, from);
    if (result != (size_t)-1)
        put_state(world, &state);
}

REAL(mbstowcs)
static void check_mbstowcs(struct world *world)
{
    take_locale(world);
    size_t size;
    mbstate_t state;
    const char *text = take_start(world, &size, &state);
    size_t most = (size_t)take_number(world);
    take_number(world);
    wchar_t *to = take_number(world) ? take_room(world, 64 * sizeof *to) : NULL;
    size_t result = CALL(world, mbstowcs, (to, text, most));
    PUT(world, result);
}

/* Field: a wide character. */
REAL(wcrtomb)
static void check_wcrtomb(struct world *world)
{
    take_locale(world);
    wchar_t c = (wchar_t)take_number(world);
    char *to = take_room(world, 16);
    mbstate_t state = {0};
    errno = 0;
    size_t result = CALL(world, wcrtomb, (to, c, &state));
    PUT(world, result);
    PUT(world, errno);
    result = CALL(world, wcrtomb, (NULL, c, &state));
    PUT(world, result);
}

REAL(wctomb)
static void check_wctomb(struct world *world)
{
    take_locale(world);
    wchar_t c = (wchar_t)take_number(world);
    char *to = take_room(world, 16);
    int result = CALL(world, wctomb, (to, c));
    PUT(world, result);
}

REAL(wctob)
static void check_wctob(struct world *world)
{
    take_locale(world);
    int result = CALL(world, wctob, ((wint_t)take_number(world)));
    PUT(world, result);
}

/* Field: a character. */
REAL(btowc)
static void check_btowc(struct world *world)
{
    take_locale(world);
    wint_t result = CALL(world, btowc, ((int)take_number(world)));
    PUT(world, result);
}

/* Fields: wide text, most bytes, most characters, whether there is a target. */
REAL(wcsnrtombs)
static void check_wcsnrtombs(struct world *world)
{
    take_locale(world);
    const wchar_t *text = take_bytes(world, NULL), *from = text;
    size_t most = (size_t)take_number(world), limit = (size_t)take_number(world);
    char *to = take_number(world) ? take_room(world, 128) : NULL;
    mbstate_t state = {0};
    size_t result = CALL(world, wcsnrtombs, (to, &from, limit, most, &state));
    PUT(world, result);
    put_place(world, text, from);
}

REAL(wcsrtombs)
static void check_wcsrtombs(struct world *world)
{
    take_locale(world);
    const wchar_t *text = take_bytes(world, NULL), *from = text;
    size_t most = (size_t)take_number(world);
    take_number(world);
    char *to = take_number(world) ? take_room(world, 128) : NULL;
    size_t result = CALL(world, wcsrtombs, (to, &from, most, NULL));
    PUT(world, result);
    put_place(world, text, from);
}

REAL(wcstombs)
static void check_wcstombs(struct world *world)
{
    take_locale(world);
    const wchar_t *text = take_bytes(world, NULL);
    size_t most = (size_t)take_number(world);
    take_number(world);
    char *to = take_number(world) ? take_room(world, 128) : NULL;
    size_t result = CALL(world, wcstombs, (to, text, most));
    PUT(world, result);
}

FAMILY(CHECK(mbrtowc), CHECK(mbrtoc32), CHECK(mbrlen), CHECK(mbtowc), CHECK(mblen),
       CHECK(mbrtowc_own_state), CHECK(mbsinit), CHECK(mbsnrtowcs), CHECK(mbsrtowcs),
       CHECK(mbstowcs), CHECK(wcrtomb), CHECK(wctomb), CHECK(wctob), CHECK(btowc),
       CHECK(wcsnrtombs), CHECK(wcsrtombs), CHECK(wcstombs))
