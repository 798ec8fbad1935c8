/* string.h: copying strings. */
#include "model.h"
#include <string.h>

size_t __plx_m_strlen(const char *s);
size_t __plx_m_strnlen(const char *s, size_t limit);

/* The fortified functions, which end the program when the room is too small. */
char *__strcpy_chk(char *to, const char *from, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t n, size_t room);
char *__stpcpy_chk(char *to, const char *from, size_t room);
char *__stpncpy_chk(char *to, const char *from, size_t n, size_t room);
char *__strcat_chk(char *to, const char *from, size_t room);
char *__strncat_chk(char *to, const char *from, size_t n, size_t room);

char *__plx_m_stpcpy(char *to, const char *from)
{
    size_t n = strlen(from);
    if (!__plx_peek(from, n + 1)) {
        __plx_clear(to, n + 1);
        return stpcpy(to, from);
    }
    while ((*to = *from) != '\0') {
        to++;
        from++;
    }
    return to;
}

char *__plx_m_strcpy(char *to, const char *from)
{
    __plx_m_stpcpy(to, from);
    return to;
}

char *__plx_m_stpncpy(char *to, const char *from, size_t n)
{
    WRITES(to, n);
    size_t length = strnlen(from, n);
    if (!LABELLED(n) && !__plx_peek(from, length < n ? length + 1 : length)) {
        __plx_clear(to, n);
        return stpncpy(to, from, n);
    }
    size_t i = 0;
    while (i < n && from[i] != '\0') {
        to[i] = from[i];
        i++;
    }
    char *end = to + i;
    for (; i < n; i++)
        to[i] = '\0';
    return end;
}

char *__plx_m_strncpy(char *to, const char *from, size_t n)
{
    __plx_m_stpncpy(to, from, n);
    return to;
}

char *__plx_m_strcat(char *to, const char *from)
{
    __plx_m_stpcpy(to + __plx_m_strlen(to), from);
    return to;
}

char *__plx_m_strncat(char *to, const char *from, size_t n)
{
    char *end = to + __plx_m_strlen(to);
    size_t length = __plx_m_strnlen(from, n);
    __plx_m_memcpy(end, from, length);
    end[length] = '\0';
    return to;
}

/* Copies up to and including the character c, if it is among the first n. */
void *__plx_m_memccpy(void *to, const void *from, int c, size_t n)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    unsigned char last = (unsigned char)c;
    for (size_t i = 0; i < n; i++) {
        target[i] = source[i];
        if (source[i] == last)
            return target + i + 1;
    }
    return NULL;
}

char *__plx_m_strdup(const char *s)
{
    size_t size = __plx_m_strlen(s) + 1;
    char *copy = __plx_m_malloc(size);
    return copy ? __plx_m_memcpy(copy, s, size) : NULL;
}

char *__plx_m_strndup(const char *s, size_t limit)
{
    size_t length = __plx_m_strnlen(s, limit);
    char *copy = __plx_m_malloc(length + 1);
    if (copy == NULL)
        return NULL;
    __plx_m_memcpy(copy, s, length);
    copy[length] = '\0';
    return copy;
}

/* What fits is copied by the model; the real function reports the rest. */
char *__plx_m___strcpy_chk(char *to, const char *from, size_t room)
{
    return strlen(from) < room ? __plx_m_strcpy(to, from) : __strcpy_chk(to, from, room);
}

char *__plx_m___stpcpy_chk(char *to, const char *from, size_t room)
{
    return strlen(from) < room ? __plx_m_stpcpy(to, from) : __stpcpy_chk(to, from, room);
}

char *__plx_m___strncpy_chk(char *to, const char *from, size_t n, size_t room)
{
    return n <= room ? __plx_m_strncpy(to, from, n) : __strncpy_chk(to, from, n, room);
}

char *__plx_m___stpncpy_chk(char *to, const char *from, size_t n, size_t room)
{
    return n <= room ? __plx_m_stpncpy(to, from, n) : __stpncpy_chk(to, from, n, room);
}

char *__plx_m___strcat_chk(char *to, const char *from, size_t room)
{
    if (strlen(to) + strlen(from) < room)
        return __plx_m_strcat(to, from);
    return __strcat_chk(to, from, room);
}

char *__plx_m___strncat_chk(char *to, const char *from, size_t n, size_t room)
{
    if (strlen(to) + strnlen(from, n) < room)
        return __plx_m_strncat(to, from, n);
    return __strncat_chk(to, from, n, room);
}
