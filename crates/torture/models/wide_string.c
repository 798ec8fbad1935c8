/* wchar.h: strings of wide characters. Fields: text, text, number, character. */
#include "harness.h"
#include <locale.h>
#include <wchar.h>

/* Everything that any of the checks needs. */
struct parts {
    wchar_t *a, *b, *to;
    size_t n;
    wchar_t c;
};

static struct parts take_parts(struct world *world)
{
    setlocale(LC_ALL, "C.UTF-8");
    struct parts parts;
    parts.a = take_bytes_in(world, NULL, 256);
    parts.b = take_bytes_in(world, NULL, 256);
    parts.to = take_room(world, 256);
    parts.n = (size_t)take_number(world);
    parts.c = (wchar_t)take_number(world);
    return parts;
}

#define VALUE(name, type, call)                                                                    \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        struct parts p = take_parts(world);                                                        \
        type result = CALL(world, name, call);                                                     \
        PUT(world, result);                                                                        \
    }
/* Only the sign of the result means anything: it differs among glibc's own implementations. */
#define SIGN(name, call)                                                                           \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        struct parts p = take_parts(world);                                                        \
        int result = CALL(world, name, call), sign = (result > 0) - (result < 0);                  \
        PUT(world, sign);                                                                          \
    }
#define PLACE(base, name, call)                                                                    \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        struct parts p = take_parts(world);                                                        \
        put_place(world, p.base, CALL(world, name, call));                                         \
    }
VALUE(wcslen, size_t, (p.a))
VALUE(wcsnlen, size_t, (p.a, p.n))
SIGN(wcscmp, (p.a, p.b))
SIGN(wcsncmp, (p.a, p.b, p.n))
VALUE(wcscasecmp, int, (p.a, p.b))
VALUE(wcsncasecmp, int, (p.a, p.b, p.n))
VALUE(wcsspn, size_t, (p.a, p.b))
VALUE(wcscspn, size_t, (p.a, p.b))
SIGN(wmemcmp, (p.a, p.b, p.n))
VALUE(wcswidth, int, (p.a, p.n))
PLACE(a, wcschr, (p.a, p.c))
PLACE(a, wcsrchr, (p.a, p.c))
PLACE(a, wcschrnul, (p.a, p.c))
PLACE(a, wcspbrk, (p.a, p.b))
PLACE(a, wcsstr, (p.a, p.b))
PLACE(a, wmemchr, (p.a, p.c, p.n))
PLACE(a, wcscat, (p.a, p.b))
PLACE(a, wcsncat, (p.a, p.b, p.n))
PLACE(a, wmemmove, (p.a + 3, p.a, p.n))
PLACE(to, wcscpy, (p.to, p.a))
PLACE(to, wcpcpy, (p.to, p.a))
PLACE(to, wcsncpy, (p.to, p.a, p.n))
PLACE(to, wcpncpy, (p.to, p.a, p.n))
PLACE(to, wmemcpy, (p.to, p.a, p.n))
PLACE(to, wmempcpy, (p.to, p.a, p.n))
PLACE(to, wmemset, (p.to, p.c, p.n))

REAL(wcsdup)
static void check_wcsdup(struct world *world)
{
    struct parts p = take_parts(world);
    wchar_t *copy = CALL(world, wcsdup, (p.a));
    adopt(world, copy, (wcslen(copy) + 1) * sizeof *copy);
}

REAL(wcstok)
static void check_wcstok(struct world *world)
{
    struct parts p = take_parts(world);
    wchar_t *rest = NULL, *part = CALL(world, wcstok, (p.a, p.b, &rest));
    while (part != NULL) {
        put_place(world, p.a, part);
        put_place(world, p.a, rest);
        part = CALL(world, wcstok, (NULL, p.b, &rest));
    }
    put_place(world, p.a, rest);
}

FAMILY(CHECK(wcslen), CHECK(wcsnlen), CHECK(wcscmp), CHECK(wcsncmp), CHECK(wcscasecmp),
       CHECK(wcsncasecmp), CHECK(wcsspn), CHECK(wcscspn), CHECK(wmemcmp), CHECK(wcswidth),
       CHECK(wcschr), CHECK(wcsrchr), CHECK(wcschrnul), CHECK(wcspbrk), CHECK(wcsstr),
       CHECK(wmemchr), CHECK(wcscpy), CHECK(wcpcpy), CHECK(wcsncpy), CHECK(wcpncpy), CHECK(wcscat),
       CHECK(wcsncat), CHECK(wmemcpy), CHECK(wmempcpy), CHECK(wmemmove), CHECK(wmemset),
       CHECK(wcsdup), CHECK(wcstok))
