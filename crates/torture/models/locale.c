/* Order of strings and plural forms. The locales at hand have neither rules nor catalogues. */
#include "harness.h"
#include <libintl.h>
#include <locale.h>
#include <wchar.h>

/* Fields: text, text. */
#define TEXTS(name)                                                                                \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        setlocale(LC_ALL, "C.UTF-8");                                                              \
        char *a = take_text(world), *b = take_text(world);                                         \
        take_number(world);                                                                        \
        int result = CALL(world, name, (a, b));                                                    \
        PUT(world, result);                                                                        \
    }
TEXTS(strverscmp)
TEXTS(strcoll)

/* Fields: text, nothing, room. */
REAL(strxfrm)
static void check_strxfrm(struct world *world)
{
    char *text = take_text(world);
    take_text(world);
    size_t n = (size_t)take_number(world), result;
    char *to = take_room(world, 64);
    result = CALL(world, strxfrm, (to, text, n));
    PUT(world, result);
}

/* The same, of wide characters. */
static wchar_t *take_wide(struct world *world)
{
    char *text = take_text(world);
    size_t n = 0;
    wchar_t *wide = (void *)allocate(world, 64 * sizeof *wide);
    while ((wide[n] = (unsigned char)text[n]) != L'\0')
        n++;
    return wide;
}

REAL(wcscoll)
static void check_wcscoll(struct world *world)
{
    wchar_t *a = take_wide(world), *b = take_wide(world);
    take_number(world);
    /* Only the sign means anything: it differs among glibc's own implementations. */
    int result = CALL(world, wcscoll, (a, b)), sign = (result > 0) - (result < 0);
    PUT(world, sign);
}

REAL(wcsxfrm)
static void check_wcsxfrm(struct world *world)
{
    wchar_t *text = take_wide(world);
    take_text(world);
    size_t n = (size_t)take_number(world), result;
    wchar_t *to = take_room(world, 64 * sizeof *to);
    result = CALL(world, wcsxfrm, (to, text, n));
    PUT(world, result);
}

/* Fields: text, text, number. */
#define PLURAL(name, before, after)                                                                \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char *one = take_text(world), *many = take_text(world);                                    \
        unsigned long n = (unsigned long)take_number(world);                                       \
        put_place(world, one, CALL(world, name, (before one, many, n after)) == one ? one : NULL); \
    }
#define COMMA ,
PLURAL(ngettext, , )
PLURAL(dngettext, "domain" COMMA, )
PLURAL(dcngettext, "domain" COMMA, COMMA LC_MESSAGES)

FAMILY(CHECK(strverscmp), CHECK(strcoll), CHECK(strxfrm), CHECK(wcscoll), CHECK(wcsxfrm),
       CHECK(ngettext), CHECK(dngettext), CHECK(dcngettext))
