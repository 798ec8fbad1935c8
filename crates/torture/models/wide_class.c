/* wctype.h and widths. Fields: which locale, a character. */
#include "harness.h"
#include <locale.h>
#include <wchar.h>
#include <wctype.h>

static wint_t take_character(struct world *world)
{
    if (setlocale(LC_ALL, take_number(world) ? "C.UTF-8" : "C") == NULL)
        abort();
    return (wint_t)take_number(world);
}

#define CHARACTER(name)                                                                            \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        wint_t c = take_character(world);                                                          \
        wint_t result = (wint_t)CALL(world, name, (c));                                            \
        PUT(world, result);                                                                        \
    }
CHARACTER(iswalnum)
CHARACTER(iswalpha)
CHARACTER(iswblank)
CHARACTER(iswcntrl)
CHARACTER(iswdigit)
CHARACTER(iswgraph)
CHARACTER(iswlower)
CHARACTER(iswprint)
CHARACTER(iswpunct)
CHARACTER(iswspace)
CHARACTER(iswupper)
CHARACTER(iswxdigit)
CHARACTER(towlower)
CHARACTER(towupper)

REAL(wcwidth)
static void check_wcwidth(struct world *world)
{
    wchar_t c = (wchar_t)take_character(world);
    int result = CALL(world, wcwidth, (c));
    PUT(world, result);
}

/* Field: the name of a class or mapping. */
REAL(wctype)
REAL(iswctype)
static void check_iswctype(struct world *world)
{
    wint_t c = take_character(world);
    const char *name = take_text(world);
    wctype_t class = CALL(world, wctype, (name));
    PUT(world, class);
    int result = CALL(world, iswctype, (c, class));
    PUT(world, result);
}

REAL(wctrans)
REAL(towctrans)
static void check_towctrans(struct world *world)
{
    wint_t c = take_character(world);
    const char *name = take_text(world);
    wctrans_t mapping = CALL(world, wctrans, (name));
    PUT(world, mapping);
    wint_t result = CALL(world, towctrans, (c, mapping));
    PUT(world, result);
}

FAMILY(CHECK(iswalnum), CHECK(iswalpha), CHECK(iswblank), CHECK(iswcntrl), CHECK(iswdigit),
       CHECK(iswgraph), CHECK(iswlower), CHECK(iswprint), CHECK(iswpunct), CHECK(iswspace),
       CHECK(iswupper), CHECK(iswxdigit), CHECK(towlower), CHECK(towupper), CHECK(wcwidth),
       CHECK(iswctype), CHECK(towctrans))
