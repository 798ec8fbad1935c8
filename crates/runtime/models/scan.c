/* stdio.h: formatted input, from streams and from strings.
 *
 * Follows glibc where the standard leaves room: at most one character is put back, "0x" without
 * a digit is 0, and a width of 0 is none. Formats that need more than is here (positions, grouping,
 * allocation, wide characters) are libc's, and what labels said is lost. */
#include "model.h"
#include "scan_number.h"
#include "scan_source.h"
#include "stream.h"
#include <langinfo.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

/* There are two of each: GNU's old ones, in which %as allocates, and C99's. */
int old_vfscanf(FILE *stream, const char *format, va_list arguments) __asm__("vfscanf");
int c99_vfscanf(FILE *stream, const char *format, va_list arguments) __asm__("__isoc99_vfscanf");
int old_vsscanf(const char *text, const char *format, va_list arguments) __asm__("vsscanf");
int c99_vsscanf(const char *text, const char *format, va_list arguments) __asm__("__isoc99_vsscanf");

/* Whether this format is for the model. */
static int is_known(const char *format, enum dialect dialect)
{
    int has_float = 0;
    for (; *format != '\0'; format++) {
        if ((unsigned char)*format >= 0x80)
            return 0;
        if (*format != '%')
            continue;
        struct directive directive;
        format = parse_directive(format + 1, dialect, &directive);
        if (format == NULL)
            return 0;
        if (directive.letter == '\0')
            break;
        has_float |= strchr("aAeEfFgG", directive.letter) != NULL;
        if (directive.letter == '[') {
            if (*format == '^')
                format++;
            if (*format == ']')
                format++;
            while (*format != '\0' && *format != ']')
                format++;
            if (*format == '\0')
                break;
        } else {
            format--;
        }
    }
    return !has_float || strlen(nl_langinfo(RADIXCHAR)) == 1;
}

static enum outcome scan_characters(struct source *from, struct directive *directive,
                                    va_list *arguments)
{
    char *to = directive->is_suppressed ? NULL : va_arg(*arguments, char *);
    int width = directive->width < 0 ? 1 : directive->width;
    if (!next(from))
        return no_input;
    do {
        if (to != NULL)
            *to++ = (char)from->c;
    } while (--width > 0 && next(from));
    return fine;
}

static enum outcome scan_word(struct source *from, struct directive *directive, va_list *arguments)
{
    char *to = directive->is_suppressed ? NULL : va_arg(*arguments, char *);
    int width = directive->width;
    if (!next(from))
        return no_input;
    do {
        if (is_space(from->c)) {
            put_back(from);
            break;
        }
        if (to != NULL)
            *to++ = (char)from->c;
    } while ((width <= 0 || --width > 0) && next(from));
    if (to != NULL)
        *to = '\0';
    return fine;
}

/* Which characters a set names; reads it from behind the '['. NULL if it does not end. */
static const char *parse_set(const char *s, char *members, char *is_inverted)
{
    memset(members, 0, UCHAR_MAX + 1);
    *is_inverted = *s == '^';
    if (*is_inverted)
        s++;
    if (*s == ']' || *s == '-')
        members[(unsigned char)*s++] = 1;
    for (; *s != '\0' && *s != ']'; s++) {
        unsigned char from = (unsigned char)s[-1], to = (unsigned char)s[1];
        if (*s == '-' && to != '\0' && to != ']' && from <= to)
            for (unsigned c = from; c < to; c++)
                members[c] = 1;
        else
            members[(unsigned char)*s] = 1;
    }
    return *s == '\0' ? NULL : s + 1;
}

static enum outcome scan_set(struct source *from, struct directive *directive, const char **format,
                             va_list *arguments)
{
    char members[UCHAR_MAX + 1], is_inverted;
    char *to = directive->is_suppressed ? NULL : va_arg(*arguments, char *);
    int width = directive->width < 0 ? INT_MAX : directive->width;
    *format = parse_set(*format, members, &is_inverted);
    if (*format == NULL)
        return no_match;
    size_t before = from->taken;
    if (!next(from))
        return no_input;
    do {
        if (members[from->c] == is_inverted) {
            put_back(from);
            break;
        }
        if (to != NULL)
            *to++ = (char)from->c;
    } while (--width > 0 && next(from));
    if (from->taken == before)
        return no_match;
    if (to != NULL)
        *to = '\0';
    return fine;
}

/* One directive with its letter. Counts it if it was stored. */
static enum outcome scan_directive(struct source *from, struct directive *directive,
                                   const char **format, enum dialect dialect, va_list *arguments,
                                   int *stored)
{
    enum outcome outcome;
    switch (directive->letter) {
    case '%':
        if (!next(from))
            return no_input;
        if (from->c == '%')
            return fine;
        put_back(from);
        return no_match;
    case 'n':
        if (!directive->is_suppressed)
            store(directive, arguments, from->taken);
        return fine;
    case 'c':
        outcome = scan_characters(from, directive, arguments);
        break;
    case 's':
        outcome = scan_word(from, directive, arguments);
        break;
    case '[':
        outcome = scan_set(from, directive, format, arguments);
        break;
    case 'd':
    case 'u':
        outcome = scan_integer(from, directive, 10, dialect, arguments);
        break;
    case 'i':
        outcome = scan_integer(from, directive, 0, dialect, arguments);
        break;
    case 'o':
        outcome = scan_integer(from, directive, 8, dialect, arguments);
        break;
    case 'p':
        directive->size = size_long;
        outcome = scan_integer(from, directive, 16, dialect, arguments);
        break;
    case 'x':
    case 'X':
        outcome = scan_integer(from, directive, 16, dialect, arguments);
        break;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        outcome = scan_float(from, directive, arguments);
        break;
    default:
        return no_match;
    }
    if (outcome == fine && !directive->is_suppressed)
        ++*stored;
    return outcome;
}

/* A character of the format that stands for itself. */
static enum outcome scan_literal(struct source *from, char c)
{
    if (!next(from))
        return no_input;
    if (from->c == (unsigned char)c)
        return fine;
    put_back(from);
    return no_match;
}

static int scan(struct source *from, const char *format, enum dialect dialect, va_list *arguments)
{
    int stored = 0, skips = 0;
    enum outcome outcome = fine;
    while (outcome == fine && *format != '\0') {
        char c = *format++;
        if (is_space((unsigned char)c)) {
            skips = 1;
            continue;
        }
        struct directive directive = {0};
        if (c == '%') {
            format = parse_directive(format, dialect, &directive);
            c = directive.letter;
            if (c == '\0')
                return stored;
            skips |= c != '[' && c != 'c' && c != 'n';
        }
        if (skips && directive.letter != '\0')
            skip_before_directive(from);
        else if (skips)
            skip_space(from);
        skips = 0;
        if (directive.letter == '\0')
            outcome = scan_literal(from, c);
        else
            outcome = scan_directive(from, &directive, &format, dialect, arguments, &stored);
    }
    if (outcome == fine && skips)
        skip_space(from);
    return outcome == no_input && stored == 0 ? EOF : stored;
}

static int scan_stream(FILE *stream, const char *format, va_list arguments, enum dialect dialect)
{
    int result;
    if (stream->_mode > 0 || !is_known(format, dialect)) {
        result = (dialect == dialect_gnu ? old_vfscanf : c99_vfscanf)(stream, format, arguments);
        __plx_stream_touched(stream, "fscanf");
        return result;
    }
    struct source from = {.stream = stream};
    va_list rest;
    va_copy(rest, arguments);
    int locked = lock(stream);
    result = scan(&from, format, dialect, &rest);
    unlock(stream, locked);
    va_end(rest);
    return result;
}

static int scan_text(const char *text, const char *format, va_list arguments, enum dialect dialect)
{
    if (!is_known(format, dialect)) {
        if (__plx_peek(text, strlen(text) + 1))
            LOSE("sscanf");
        return (dialect == dialect_gnu ? old_vsscanf : c99_vsscanf)(text, format, arguments);
    }
    struct source from = {.text = (const unsigned char *)text};
    va_list rest;
    va_copy(rest, arguments);
    int result = scan(&from, format, dialect, &rest);
    va_end(rest);
    return result;
}

#define VARIADIC(name, parameters, forwarded)                                                      \
    int name parameters                                                                            \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        int result = forwarded;                                                                    \
        va_end(arguments);                                                                         \
        return result;                                                                             \
    }

/* All functions of one dialect. */
#define FUNCTIONS(prefix, dialect)                                                                 \
    int prefix##vfscanf(FILE *stream, const char *format, va_list arguments)                       \
    {                                                                                              \
        return scan_stream(stream, format, arguments, dialect);                                    \
    }                                                                                              \
    int prefix##vscanf(const char *format, va_list arguments)                                      \
    {                                                                                              \
        return scan_stream(stdin, format, arguments, dialect);                                     \
    }                                                                                              \
    int prefix##vsscanf(const char *text, const char *format, va_list arguments)                   \
    {                                                                                              \
        return scan_text(text, format, arguments, dialect);                                        \
    }                                                                                              \
    VARIADIC(prefix##fscanf, (FILE * stream, const char *format, ...),                             \
             scan_stream(stream, format, arguments, dialect))                                      \
    VARIADIC(prefix##scanf, (const char *format, ...),                                             \
             scan_stream(stdin, format, arguments, dialect))                                       \
    VARIADIC(prefix##sscanf, (const char *text, const char *format, ...),                          \
             scan_text(text, format, arguments, dialect))

FUNCTIONS(__plx_m_, dialect_gnu)
FUNCTIONS(__plx_m___isoc99_, dialect_c99)
FUNCTIONS(__plx_m___isoc23_, dialect_c23)
