/* string.h and strings.h: comparison. The results have the magnitude that glibc
 * gives them: the difference of the bytes that differ.
 *
 * The real function answers when no label could be in the answer. A limit that carries one counts, even if it
 * is 0 and nothing is compared: with another limit something would be. */
#include "model.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

int __plx_m_memcmp(const void *a, const void *b, size_t n)
{
    if (!LABELLED(n) && !__plx_peek(a, n) && !__plx_peek(b, n))
        return memcmp(a, b, n);
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < n; i++)
        if (x[i] != y[i])
            return x[i] - y[i];
    return 0;
}

int __plx_m_bcmp(const void *a, const void *b, size_t n)
{
    return __plx_m_memcmp(a, b, n);
}

/* Whether two characters that are the same end their strings. Asked of the one that is not
 * labelled, if there is one: then it is no branch. */
static int is_end(const char *a, const char *b)
{
    return __plx_peek(a, 1) ? *b == '\0' : *a == '\0';
}

int __plx_m_strncmp(const char *a, const char *b, size_t n)
{
    size_t length_a = strnlen(a, n), length_b = strnlen(b, n);
    size_t looked_at = length_a < length_b ? length_a : length_b;
    if (looked_at < n)
        looked_at++;
    if (!LABELLED(n) && !__plx_peek(a, looked_at) && !__plx_peek(b, looked_at))
        return strncmp(a, b, n);
    for (size_t i = 0; i < n; i++) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (x != y)
            return x - y;
        if (is_end(a + i, b + i))
            break;
    }
    return 0;
}

int __plx_m_strcmp(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b);
    size_t looked_at = (length_a < length_b ? length_a : length_b) + 1;
    if (!__plx_peek(a, looked_at) && !__plx_peek(b, looked_at))
        return strcmp(a, b);
    for (size_t i = 0;; i++) {
        unsigned char x = (unsigned char)a[i], y = (unsigned char)b[i];
        if (x != y)
            return x - y;
        if (is_end(a + i, b + i))
            return 0;
    }
}

int __plx_m_strncasecmp(const char *a, const char *b, size_t n)
{
    size_t length_a = strnlen(a, n), length_b = strnlen(b, n);
    size_t looked_at = length_a < length_b ? length_a : length_b;
    if (looked_at < n)
        looked_at++;
    if (!LABELLED(n) && !__plx_peek(a, looked_at) && !__plx_peek(b, looked_at))
        return strncasecmp(a, b, n);
    const int *lower = *__ctype_tolower_loc();
    for (size_t i = 0; i < n; i++) {
        int x = lower[(unsigned char)a[i]], y = lower[(unsigned char)b[i]];
        if (x != y)
            return x - y;
        if (is_end(a + i, b + i))
            break;
    }
    return 0;
}

int __plx_m_strcasecmp(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b);
    size_t looked_at = (length_a < length_b ? length_a : length_b) + 1;
    if (!__plx_peek(a, looked_at) && !__plx_peek(b, looked_at))
        return strcasecmp(a, b);
    const int *lower = *__ctype_tolower_loc();
    for (size_t i = 0;; i++) {
        int x = lower[(unsigned char)a[i]], y = lower[(unsigned char)b[i]];
        if (x != y)
            return x - y;
        if (is_end(a + i, b + i))
            return 0;
    }
}

/* Case-insensitive search compares as strcasecmp does. */
char *__plx_m_strcasestr(const char *s, const char *part)
{
    if (!__plx_peek(s, strlen(s) + 1) && !__plx_peek(part, strlen(part) + 1))
        return strcasestr(s, part);
    const int *lower = *__ctype_tolower_loc();
    for (;; s++) {
        size_t i = 0;
        while (part[i] != '\0' && lower[(unsigned char)s[i]] == lower[(unsigned char)part[i]])
            i++;
        if (part[i] == '\0')
            return (char *)s;
        if (s[i] == '\0')
            return NULL;
    }
}
