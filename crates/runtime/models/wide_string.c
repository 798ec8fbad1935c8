/* wchar.h: strings of wide characters. */
#include "model.h"
#include "charset.h"
#include <wchar.h>

wint_t __plx_m_towlower(wint_t c);
void *__plx_m_memmove(void *to, const void *from, size_t size);
void *__plx_m_mempcpy(void *to, const void *from, size_t size);

/* Bytes of a string, terminator included. */
static size_t bytes_of(const wchar_t *s)
{
    return (wcslen(s) + 1) * sizeof *s;
}

static int is_plain(const wchar_t *s)
{
    return !__plx_peek(s, bytes_of(s));
}

size_t __plx_m_wcslen(const wchar_t *s)
{
    if (is_plain(s))
        return wcslen(s);
    size_t n = 0;
    while (s[n] != L'\0')
        n++;
    return n;
}

size_t __plx_m_wcsnlen(const wchar_t *s, size_t limit)
{
    size_t n = 0;
    while (n < limit && s[n] != L'\0')
        n++;
    return n;
}

wchar_t *__plx_m_wmemchr(const wchar_t *s, wchar_t c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] == c)
            return (wchar_t *)(s + i);
    return NULL;
}

int __plx_m_wmemcmp(const wchar_t *a, const wchar_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] > b[i] ? 1 : -1;
    return 0;
}

int __plx_m_wcsncmp(const wchar_t *a, const wchar_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i])
            return a[i] > b[i] ? 1 : -1;
        if (a[i] == L'\0')
            break;
    }
    return 0;
}

int __plx_m_wcscmp(const wchar_t *a, const wchar_t *b)
{
    return __plx_m_wcsncmp(a, b, (size_t)-1);
}

/* Here the result is the difference. */
int __plx_m_wcsncasecmp(const wchar_t *a, const wchar_t *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        wint_t x = __plx_m_towlower((wint_t)a[i]), y = __plx_m_towlower((wint_t)b[i]);
        if (x != y)
            return (int)(x - y);
        if (x == L'\0')
            break;
    }
    return 0;
}

int __plx_m_wcscasecmp(const wchar_t *a, const wchar_t *b)
{
    return __plx_m_wcsncasecmp(a, b, (size_t)-1);
}

wchar_t *__plx_m_wcschrnul(const wchar_t *s, wchar_t c)
{
    while (*s != c && *s != L'\0')
        s++;
    return (wchar_t *)s;
}

wchar_t *__plx_m_wcschr(const wchar_t *s, wchar_t c)
{
    wchar_t *found = __plx_m_wcschrnul(s, c);
    return *found == c ? found : NULL;
}

wchar_t *__plx_m_wcsrchr(const wchar_t *s, wchar_t c)
{
    const wchar_t *found = NULL;
    for (;; s++) {
        if (*s == c)
            found = s;
        if (*s == L'\0')
            return (wchar_t *)found;
    }
}

static int is_member(wchar_t c, const wchar_t *set)
{
    for (; *set != L'\0'; set++)
        if (*set == c)
            return 1;
    return 0;
}

size_t __plx_m_wcsspn(const wchar_t *s, const wchar_t *accept)
{
    size_t n = 0;
    while (s[n] != L'\0' && is_member(s[n], accept))
        n++;
    return n;
}

size_t __plx_m_wcscspn(const wchar_t *s, const wchar_t *reject)
{
    size_t n = 0;
    while (s[n] != L'\0' && !is_member(s[n], reject))
        n++;
    return n;
}

wchar_t *__plx_m_wcspbrk(const wchar_t *s, const wchar_t *accept)
{
    s += __plx_m_wcscspn(s, accept);
    return *s != L'\0' ? (wchar_t *)s : NULL;
}

wchar_t *__plx_m_wcsstr(const wchar_t *s, const wchar_t *part)
{
    if (is_plain(s) && is_plain(part))
        return wcsstr(s, part);
    for (;; s++) {
        size_t i = 0;
        while (part[i] != L'\0' && s[i] == part[i])
            i++;
        if (part[i] == L'\0')
            return (wchar_t *)s;
        if (s[i] == L'\0')
            return NULL;
    }
}

wchar_t *__plx_m_wcstok(wchar_t *restrict s, const wchar_t *restrict separators,
                        wchar_t **restrict rest)
{
    if (s == NULL)
        s = *rest;
    if (s == NULL)
        return NULL;
    s += __plx_m_wcsspn(s, separators);
    if (*s == L'\0') {
        *rest = NULL;
        return NULL;
    }
    wchar_t *end = s + __plx_m_wcscspn(s, separators);
    if (*end == L'\0') {
        *rest = NULL;
    } else {
        *end = L'\0';
        *rest = end + 1;
    }
    return s;
}

/* Copies of known length are copies of bytes. */
wchar_t *__plx_m_wmemcpy(wchar_t *to, const wchar_t *from, size_t n)
{
    return __plx_m_memcpy(to, from, n * sizeof *to);
}

wchar_t *__plx_m_wmempcpy(wchar_t *to, const wchar_t *from, size_t n)
{
    return __plx_m_mempcpy(to, from, n * sizeof *to);
}

wchar_t *__plx_m_wmemmove(wchar_t *to, const wchar_t *from, size_t n)
{
    return __plx_m_memmove(to, from, n * sizeof *to);
}

wchar_t *__plx_m_wmemset(wchar_t *to, wchar_t c, size_t n)
{
    FIX(n);
    for (size_t i = 0; i < n; i++)
        to[i] = c;
    return to;
}

wchar_t *__plx_m_wcpcpy(wchar_t *to, const wchar_t *from)
{
    size_t n = __plx_m_wcslen(from);
    __plx_m_wmemcpy(to, from, n + 1);
    return to + n;
}

wchar_t *__plx_m_wcscpy(wchar_t *to, const wchar_t *from)
{
    __plx_m_wcpcpy(to, from);
    return to;
}

wchar_t *__plx_m_wcpncpy(wchar_t *to, const wchar_t *from, size_t n)
{
    size_t length = __plx_m_wcsnlen(from, n);
    __plx_m_wmemcpy(to, from, length);
    __plx_m_wmemset(to + length, L'\0', n - length);
    return to + length;
}

wchar_t *__plx_m_wcsncpy(wchar_t *to, const wchar_t *from, size_t n)
{
    __plx_m_wcpncpy(to, from, n);
    return to;
}

wchar_t *__plx_m_wcscat(wchar_t *to, const wchar_t *from)
{
    __plx_m_wcpcpy(to + __plx_m_wcslen(to), from);
    return to;
}

wchar_t *__plx_m_wcsncat(wchar_t *to, const wchar_t *from, size_t n)
{
    wchar_t *end = to + __plx_m_wcslen(to);
    size_t length = __plx_m_wcsnlen(from, n);
    __plx_m_wmemcpy(end, from, length);
    end[length] = L'\0';
    return to;
}

wchar_t *__plx_m_wcsdup(const wchar_t *s)
{
    size_t n = __plx_m_wcslen(s) + 1;
    wchar_t *copy = __plx_m_malloc(n * sizeof *copy);
    return copy != NULL ? __plx_m_wmemcpy(copy, s, n) : NULL;
}

#define ROOM_FOR(n)                                                                                \
    (wchar_t * to, const wchar_t *from, size_t n, size_t room), n, (to, from, n), (to, from, n, room)
#define FOR_LENGTH(needed)                                                                         \
    (wchar_t * to, const wchar_t *from, size_t room), needed, (to, from), (to, from, room)
#define CHECKED(name, details) CHECKED_WITH(name, details)
#define CHECKED_WITH(name, ...) WITH_ROOM(wchar_t *, name, __VA_ARGS__)

CHECKED(wmemcpy, ROOM_FOR(n))
CHECKED(wmempcpy, ROOM_FOR(n))
CHECKED(wmemmove, ROOM_FOR(n))
CHECKED(wcsncpy, ROOM_FOR(n))
CHECKED(wcpncpy, ROOM_FOR(n))
CHECKED(wcscpy, FOR_LENGTH(wcslen(from) + 1))
CHECKED(wcpcpy, FOR_LENGTH(wcslen(from) + 1))
CHECKED(wcscat, FOR_LENGTH(wcslen(to) + wcslen(from) + 1))
WITH_ROOM(wchar_t *, wcsncat, (wchar_t * to, const wchar_t *from, size_t n, size_t room),
          wcslen(to) + wcsnlen(from, n) + 1, (to, from, n), (to, from, n, room))
WITH_ROOM(wchar_t *, wmemset, (wchar_t * to, wchar_t c, size_t n, size_t room), n, (to, c, n),
          (to, c, n, room))
