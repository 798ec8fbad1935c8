/* Formatted input: where characters come from, and what a format asks for. */
#ifndef PARALLAX_SCAN_SOURCE_H
#define PARALLAX_SCAN_SOURCE_H

#include "model.h"
#include "space.h"
#include "stream.h"
#include <errno.h>

/* Which standard the program's headers chose. */
enum dialect { dialect_gnu, dialect_c99, dialect_c23 };

/* Where characters come from: a stream, or a string. */
struct source {
    FILE *stream;
    const unsigned char *text;
    /* The last character, unless there was none left. */
    unsigned char c;
    int at_end;
    /* The errno of when the end was met, which libc brings back whenever it is met again. */
    int error_at_end;
    size_t taken;
};

static int meet_end(struct source *from)
{
    from->at_end = 1;
    from->error_at_end = errno;
    return 0;
}

/* Takes the next character; false at the end, and from there on. */
static int next(struct source *from)
{
    if (from->at_end) {
        errno = from->error_at_end;
        return 0;
    }
    if (from->stream != NULL) {
        FILE *stream = from->stream;
        if (stream->_IO_read_ptr >= stream->_IO_read_end && !__plx_stream_fill(stream, 1))
            return meet_end(from);
        from->c = *(unsigned char *)stream->_IO_read_ptr++;
    } else if (*from->text == '\0') {
        return meet_end(from);
    } else {
        from->c = *from->text++;
    }
    from->taken++;
    return 1;
}

/* Puts the last character back, if there was one. */
static void put_back(struct source *from)
{
    if (from->at_end)
        return;
    from->taken--;
    if (from->stream != NULL) {
        from->stream->_IO_read_ptr--;
        from->stream->_flags &= ~SEEN_END;
    } else {
        from->text--;
    }
}

static int is_digit(unsigned char c)
{
    return (unsigned)c - '0' < 10;
}

/* One of two cases of a letter, given as the small one. */
static int is_letter(unsigned char c, char letter)
{
    return (c | 0x20) == letter;
}

static void skip_space(struct source *from)
{
    while (next(from))
        if (!is_space(from->c)) {
            put_back(from);
            break;
        }
}

/* The same before a directive, where libc keeps errno. */
static void skip_before_directive(struct source *from)
{
    int error = errno;
    errno = 0;
    skip_space(from);
    errno = error;
}

/* How an argument is stored. */
enum size { size_char, size_short, size_int, size_long, size_long_double };

struct directive {
    int is_suppressed;
    /* -1 if there is none. */
    int width;
    enum size size;
    char letter;
};

/* How a directive ended. */
enum outcome { fine, no_input, no_match };

/* Reads what follows a '%' up to its letter. Gives what comes after it, or NULL if only libc can do it. */
static const char *parse_directive(const char *s, enum dialect dialect, struct directive *directive)
{
    *directive = (struct directive){.size = size_int};
    while (*s == '*') {
        directive->is_suppressed = 1;
        s++;
    }
    for (; is_digit((unsigned char)*s); s++)
        if (__builtin_mul_overflow(directive->width, 10, &directive->width) ||
            __builtin_add_overflow(directive->width, *s - '0', &directive->width))
            return NULL;
    if (directive->width == 0)
        directive->width = -1;
    switch (*s) {
    case 'h':
        directive->size = *++s == 'h' ? s++, size_char : size_short;
        break;
    case 'l':
        directive->size = *++s == 'l' ? s++, size_long_double : size_long;
        break;
    case 'q':
    case 'L':
        directive->size = size_long_double;
        s++;
        break;
    case 'j':
    case 'z':
    case 'Z':
    case 't':
        directive->size = size_long;
        s++;
        break;
    }
    directive->letter = *s;
    int is_wide = directive->size >= size_long;
    switch (*s) {
    case 'S':
    case 'C':
    case 'm':
    case '$':
    case '\'':
    case 'I':
        return NULL;
    case 'c':
    case 's':
    case '[':
        return is_wide ? NULL : s + 1;
    case 'a':
        /* In the old dialect it means allocation before these. */
        if (dialect == dialect_gnu && (s[1] == 's' || s[1] == 'S' || s[1] == '['))
            return NULL;
        return s + 1;
    case '\0':
        return s;
    default:
        return s + 1;
    }
}

#endif
