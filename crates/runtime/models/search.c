/* string.h: lengths and searching. */
#include "model.h"
#include <string.h>

size_t __plx_m_strlen(const char *s)
{
    size_t n = strlen(s);
    if (!__plx_peek(s, n + 1))
        return n;
    n = 0;
    while (s[n] != '\0')
        n++;
    return n;
}

size_t __plx_m_strnlen(const char *s, size_t limit)
{
    size_t n = strnlen(s, limit);
    if (!LABELLED(limit) && !__plx_peek(s, n < limit ? n + 1 : n))
        return n;
    n = 0;
    while (n < limit && s[n] != '\0')
        n++;
    return n;
}

void *__plx_m_memchr(const void *s, int c, size_t n)
{
    const unsigned char *bytes = s;
    if (!LABELLED(c) && !LABELLED(n)) {
        unsigned char *found = memchr(s, c, n);
        if (!__plx_peek(s, found ? (size_t)(found - bytes) + 1 : n))
            return found;
    }
    unsigned char wanted = (unsigned char)c;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] == wanted)
            return (void *)(bytes + i);
    return NULL;
}

void *__plx_m_rawmemchr(const void *s, int c)
{
    const unsigned char *bytes = s;
    if (!LABELLED(c)) {
        unsigned char *found = rawmemchr(s, c);
        if (!__plx_peek(s, (size_t)(found - bytes) + 1))
            return found;
    }
    unsigned char wanted = (unsigned char)c;
    while (*bytes != wanted)
        bytes++;
    return (void *)bytes;
}

void *__plx_m_memrchr(const void *s, int c, size_t n)
{
    const unsigned char *bytes = s;
    if (!LABELLED(c) && !LABELLED(n) && !__plx_peek(s, n))
        return memrchr(s, c, n);
    unsigned char wanted = (unsigned char)c;
    for (size_t i = n; i > 0; i--)
        if (bytes[i - 1] == wanted)
            return (void *)(bytes + i - 1);
    return NULL;
}

char *__plx_m_strchrnul(const char *s, int c)
{
    if (!LABELLED(c)) {
        char *found = strchrnul(s, c);
        if (!__plx_peek(s, (size_t)(found - s) + 1))
            return found;
    }
    char wanted = (char)c;
    while (*s != wanted && *s != '\0')
        s++;
    return (char *)s;
}

char *__plx_m_strchr(const char *s, int c)
{
    if (!LABELLED(c)) {
        char *found = strchrnul(s, c);
        if (!__plx_peek(s, (size_t)(found - s) + 1))
            return *found == (char)c ? found : NULL;
    }
    char wanted = (char)c;
    for (;; s++) {
        if (*s == wanted)
            return (char *)s;
        if (*s == '\0')
            return NULL;
    }
}

char *__plx_m_strrchr(const char *s, int c)
{
    if (!LABELLED(c) && !__plx_peek(s, strlen(s) + 1))
        return strrchr(s, c);
    char wanted = (char)c;
    const char *found = NULL;
    for (;; s++) {
        if (*s == wanted)
            found = s;
        if (*s == '\0')
            return (char *)found;
    }
}

/* Whether c is one of the characters of a set, terminator not included. */
static int is_member(char c, const char *set)
{
    for (; *set != '\0'; set++)
        if (*set == c)
            return 1;
    return 0;
}

static int is_plain(const char *s, const char *set)
{
    return !__plx_peek(s, strlen(s) + 1) && !__plx_peek(set, strlen(set) + 1);
}

size_t __plx_m_strspn(const char *s, const char *accept)
{
    if (is_plain(s, accept))
        return strspn(s, accept);
    size_t n = 0;
    while (s[n] != '\0' && is_member(s[n], accept))
        n++;
    return n;
}

size_t __plx_m_strcspn(const char *s, const char *reject)
{
    if (is_plain(s, reject))
        return strcspn(s, reject);
    size_t n = 0;
    while (s[n] != '\0' && !is_member(s[n], reject))
        n++;
    return n;
}

char *__plx_m_strpbrk(const char *s, const char *accept)
{
    if (is_plain(s, accept))
        return strpbrk(s, accept);
    s += __plx_m_strcspn(s, accept);
    return *s != '\0' ? (char *)s : NULL;
}

char *__plx_m_strstr(const char *s, const char *part)
{
    if (is_plain(s, part))
        return strstr(s, part);
    for (;; s++) {
        size_t i = 0;
        while (part[i] != '\0' && s[i] == part[i])
            i++;
        if (part[i] == '\0')
            return (char *)s;
        if (s[i] == '\0')
            return NULL;
    }
}

void *__plx_m_memmem(const void *s, size_t n, const void *part, size_t m)
{
    if (!LABELLED(n) && !LABELLED(m) && !__plx_peek(s, n) && !__plx_peek(part, m))
        return memmem(s, n, part, m);
    const unsigned char *bytes = s, *wanted = part;
    for (size_t at = 0; m <= n && at <= n - m; at++) {
        size_t i = 0;
        while (i < m && bytes[at + i] == wanted[i])
            i++;
        if (i == m)
            return (void *)(bytes + at);
    }
    return NULL;
}
