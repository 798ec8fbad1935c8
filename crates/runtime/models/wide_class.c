/* wctype.h, and widths of characters.
 *
 * ASCII characters are looked up in the tables of ctype.h, where glibc looks them up. What is known
 * about the others lies in tables of the locale that nobody outside of libc can read. So the real
 * function is asked about the character's neighbours, and the answer becomes a fact about the
 * interval on which it stays the same: two branches, which say exactly for which characters
 * the path is the same, and lead out of the interval when they are turned. */
#include "model.h"
#include <ctype.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

int __plx_m_strcmp(const char *a, const char *b);

enum question {
    ALNUM, ALPHA, BLANK, CNTRL, DIGIT, GRAPH, LOWER, PRINT, PUNCT, SPACE, UPPER, XDIGIT,
    /* In the class, or under the mapping, that a handle of the locale stands for. */
    CLASS, MAPPING,
    TO_LOWER, TO_UPPER, WIDTH,
};

/* The locale's answer. Mappings: the distance to the character's image, which is the
 * same for whole alphabets. */
static long answer(enum question question, wint_t c, unsigned long handle)
{
    switch (question) {
    case ALNUM: return iswalnum(c);
    case ALPHA: return iswalpha(c);
    case BLANK: return iswblank(c);
    case CNTRL: return iswcntrl(c);
    case DIGIT: return iswdigit(c);
    case GRAPH: return iswgraph(c);
    case LOWER: return iswlower(c);
    case PRINT: return iswprint(c);
    case PUNCT: return iswpunct(c);
    case SPACE: return iswspace(c);
    case UPPER: return iswupper(c);
    case XDIGIT: return iswxdigit(c);
    case CLASS: return iswctype(c, handle);
    case MAPPING: return (long)towctrans(c, (wctrans_t)handle) - (long)c;
    case TO_LOWER: return (long)towlower(c) - (long)c;
    case TO_UPPER: return (long)towupper(c) - (long)c;
    case WIDTH: return wcwidth((wchar_t)c);
    }
    return 0;
}

/* The value of a variable without its label. */
static wint_t value_of(const wint_t *c)
{
    wint_t value = 0;
    memcpy(&value, c, sizeof value);
    return value;
}

/* How far neighbours are asked. */
enum { reach = 256 };

static long answer_by_interval(enum question question, wint_t c, unsigned long handle)
{
    wint_t value = value_of(&c), low = value, high = value;
    long same = answer(question, value, handle);
    while (low > 0 && value - low < reach && answer(question, low - 1, handle) == same)
        low--;
    while (high < WEOF && high - value < reach && answer(question, high + 1, handle) == same)
        high++;
    if (c < low || c > high)
        return 0;
    return same;
}

/* Whether a labelled character is ASCII and, in this locale, what the tables say of it. */
static int is_tabled(wint_t c, long tabled, long real)
{
    return tabled == real && c < 0x80;
}

static int classify(enum question question, unsigned short bit, wint_t c, unsigned long handle)
{
    wint_t value = value_of(&c);
    long real = answer(question, value, handle);
    if (!LABELLED(c))
        return (int)real;
    const unsigned short *table = *__ctype_b_loc();
    if (bit != 0 && is_tabled(c, table[value & 0x7f] & bit, real))
        return table[c] & bit;
    return (int)answer_by_interval(question, c, handle);
}

#define CLASSES(X)                                                                                 \
    X(alnum, ALNUM) X(alpha, ALPHA) X(blank, BLANK) X(cntrl, CNTRL) X(digit, DIGIT)                \
    X(graph, GRAPH) X(lower, LOWER) X(print, PRINT) X(punct, PUNCT) X(space, SPACE)                \
    X(upper, UPPER) X(xdigit, XDIGIT)

#define MODEL(name, question)                                                                      \
    int __plx_m_isw##name(wint_t c)                                                                \
    {                                                                                              \
        return classify(question, (unsigned short)_IS##name, c, 0);                                \
    }
CLASSES(MODEL)

/* The names are compared in traced code: which class it is may depend on input. */
#define KNOWN(name, question)                                                                      \
    if (__plx_m_strcmp(text, #name) == 0)                                                          \
        return wctype(text);

wctype_t __plx_m_wctype(const char *text)
{
    CLASSES(KNOWN)
    return wctype(text);
}

/* The bit of the tables for a class of the locale, 0 if it has none. */
#define BIT(name, question)                                                                        \
    if (handle == wctype(#name))                                                                   \
        return (unsigned short)_IS##name;

static unsigned short bit_of(wctype_t handle)
{
    CLASSES(BIT)
    return 0;
}

int __plx_m_iswctype(wint_t c, wctype_t handle)
{
    FIX(handle);
    if (!LABELLED(c))
        return iswctype(c, handle);
    return classify(CLASS, bit_of(handle), c, handle);
}

static wint_t map(enum question question, const int *table, wint_t c, unsigned long handle)
{
    wint_t value = value_of(&c);
    long distance = answer(question, value, handle);
    if (LABELLED(c)) {
        wint_t ascii = value & 0x7f;
        if (table != NULL && is_tabled(c, table[ascii] - (long)ascii, distance))
            return (wint_t)table[c];
        distance = answer_by_interval(question, c, handle);
    }
    return c + (wint_t)distance;
}

wint_t __plx_m_towlower(wint_t c)
{
    return map(TO_LOWER, *__ctype_tolower_loc(), c, 0);
}

wint_t __plx_m_towupper(wint_t c)
{
    return map(TO_UPPER, *__ctype_toupper_loc(), c, 0);
}

wctrans_t __plx_m_wctrans(const char *text)
{
    if (__plx_m_strcmp(text, "tolower") == 0)
        return wctrans(text);
    if (__plx_m_strcmp(text, "toupper") == 0)
        return wctrans(text);
    return wctrans(text);
}

wint_t __plx_m_towctrans(wint_t c, wctrans_t handle)
{
    unsigned long number = (unsigned long)handle;
    FIX(number);
    return map(MAPPING, NULL, c, number);
}

int __plx_m_wcwidth(wchar_t c)
{
    wint_t character = (wint_t)c;
    if (!LABELLED(character))
        return wcwidth(c);
    return (int)answer_by_interval(WIDTH, character, 0);
}

int __plx_m_wcswidth(const wchar_t *s, size_t n)
{
    int columns = 0;
    for (; n > 0 && *s != L'\0'; n--, s++) {
        int width = __plx_m_wcwidth(*s);
        if (width == -1)
            return -1;
        columns += width;
    }
    return columns;
}
