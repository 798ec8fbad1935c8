/* The character sets of the locales that models of multibyte functions know. The locale can change
 * at any time, per thread even, so it is asked for each time. */
#ifndef PARALLAX_CHARSET_H
#define PARALLAX_CHARSET_H

#include <errno.h>
#include <langinfo.h>
#include <string.h>

enum charset {
    /* Of the C and POSIX locales. */
    ASCII,
    UTF8,
    OTHER,
};

static inline enum charset current_charset(void)
{
    const char *name = nl_langinfo(CODESET);
    if (strcmp(name, "UTF-8") == 0)
        return UTF8;
    return strcmp(name, "ANSI_X3.4-1968") == 0 ? ASCII : OTHER;
}

/* Results of conversions that are not a number of bytes. */
#define INVALID ((size_t)-1)
#define INCOMPLETE ((size_t)-2)

/* In bytes, in any locale. (MB_LEN_MAX is 1 in freestanding code.) */
enum { longest_character = 16 };

static inline size_t invalid(void)
{
    errno = EILSEQ;
    return INVALID;
}

/* Defines a fortified function: what has room is done by the model, and the real function, which
 * ends the program, does the rest. */
#define WITH_ROOM(result, name, parameters, needed, plain_arguments, arguments)                    \
    result __##name##_chk parameters;                                                              \
    result __plx_m___##name##_chk parameters                                                       \
    {                                                                                              \
        return room >= (needed) ? __plx_m_##name plain_arguments : __##name##_chk arguments;       \
    }

#endif
