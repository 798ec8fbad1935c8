/* string.h: splitting strings. */
#include "model.h"
#include <string.h>

size_t __plx_m_strspn(const char *s, const char *accept);
size_t __plx_m_strcspn(const char *s, const char *reject);

char *__plx_m_strtok_r(char *s, const char *separators, char **rest)
{
    if (s == NULL)
        s = *rest;
    s += __plx_m_strspn(s, separators);
    if (*s == '\0') {
        *rest = s;
        return NULL;
    }
    char *end = s + __plx_m_strcspn(s, separators);
    if (*end != '\0')
        *end++ = '\0';
    *rest = end;
    return s;
}

char *__plx_m_strtok(char *s, const char *separators)
{
    static char *rest;
    return __plx_m_strtok_r(s, separators, &rest);
}

char *__plx_m_strsep(char **string, const char *separators)
{
    char *start = *string;
    if (start == NULL)
        return NULL;
    char *end = start + __plx_m_strcspn(start, separators);
    if (*end != '\0') {
        *end = '\0';
        *string = end + 1;
    } else {
        *string = NULL;
    }
    return start;
}
