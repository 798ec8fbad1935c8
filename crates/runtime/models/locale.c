/* Functions whose results depend on the locale's rules or catalogues: collation of string.h and
 * wchar.h, and messages with plural forms of libintl.h. */
#include "model.h"
#include <langinfo.h>
#include <libintl.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

int __plx_m_strcmp(const char *a, const char *b);
int __plx_m_wcscmp(const wchar_t *a, const wchar_t *b);

/* Without rules, as in the locales C, POSIX and C.UTF-8, the order is that of the bytes. */
static int has_rules(void)
{
    return (uint32_t)(uintptr_t)nl_langinfo(_NL_COLLATE_NRULES) != 0;
}

int __plx_m_strcoll(const char *a, const char *b)
{
    if (!has_rules())
        return __plx_m_strcmp(a, b);
    if (__plx_peek(a, strlen(a) + 1) || __plx_peek(b, strlen(b) + 1))
        LOSE("strcoll");
    return strcoll(a, b);
}

int __plx_m_wcscoll(const wchar_t *a, const wchar_t *b)
{
    if (!has_rules())
        return __plx_m_wcscmp(a, b);
    if (__plx_peek(a, (wcslen(a) + 1) * sizeof *a) || __plx_peek(b, (wcslen(b) + 1) * sizeof *b))
        LOSE("wcscoll");
    return wcscoll(a, b);
}

size_t __plx_m_strxfrm(char *restrict to, const char *restrict from, size_t n)
{
    FIX(n);
    size_t size = strlen(from) + 1;
    if (has_rules() || !__plx_peek(from, size)) {
        if (__plx_peek(from, size))
            LOSE("strxfrm");
        size_t length = strxfrm(to, from, n);
        if (n > 0)
            __plx_clear(to, length < n ? length + 1 : n);
        return length;
    }
    size_t length = 0;
    for (; from[length] != '\0'; length++)
        if (length < n)
            to[length] = from[length];
    if (length < n)
        to[length] = '\0';
    return length;
}

size_t __plx_m_wcsxfrm(wchar_t *restrict to, const wchar_t *restrict from, size_t n)
{
    FIX(n);
    size_t size = (wcslen(from) + 1) * sizeof *from;
    if (has_rules() || !__plx_peek(from, size)) {
        if (__plx_peek(from, size))
            LOSE("wcsxfrm");
        size_t length = wcsxfrm(to, from, n);
        if (n > 0)
            __plx_clear(to, (length < n ? length + 1 : n) * sizeof *to);
        return length;
    }
    size_t length = 0;
    for (; from[length] != L'\0'; length++)
        if (length < n)
            to[length] = from[length];
    if (length < n)
        to[length] = L'\0';
    return length;
}

/* Which of the two texts, if no catalogue has a third. The number then counts as C's "one or
 * not one"; the plural rules of catalogues are libc's. */
static char *choose(char *found, const char *one, const char *many, unsigned long n)
{
    if (!LABELLED(n))
        return found;
    if (found == one || found == many) {
        const char *chosen = n == 1 ? one : many;
        if (chosen == found)
            return found;
    }
    LOSE("ngettext");
    FIX(n);
    return found;
}

char *__plx_m_ngettext(const char *one, const char *many, unsigned long n)
{
    return choose(ngettext(one, many, n), one, many, n);
}

char *__plx_m_dngettext(const char *domain, const char *one, const char *many, unsigned long n)
{
    return choose(dngettext(domain, one, many, n), one, many, n);
}

char *__plx_m_dcngettext(const char *domain, const char *one, const char *many, unsigned long n,
                         int category)
{
    return choose(dcngettext(domain, one, many, n, category), one, many, n);
}
