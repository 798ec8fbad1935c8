/* stdio.h: formatted output to memory.
 *
 * Digits of symbolic integers become expressions by division, their number a matter of
 * branches; strings are copied with their labels. Floating-point numbers are written by libc:
 * a symbolic one is lost, and noted. So is everything where libc alone understands the format. */
#include "model.h"
#include "format.h"
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

size_t __plx_m_strlen(const char *s);
size_t __plx_m_strnlen(const char *s, size_t limit);

int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments);
int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format,
                    va_list arguments);
int __vasprintf_chk(char **to, int flag, const char *format, va_list arguments);

/* Where output goes: at most room bytes, terminator included; length counts all. */
struct sink {
    char *to;
    size_t room, length;
    /* Name of the function, for losses. */
    const char *name;
};

/* The room of functions that are not told. More than any result: lengths are ints. */
#define ENDLESS ((size_t)1 << 31)

/* How much of n more bytes still fits in front of the terminator. */
static size_t fitting(const struct sink *sink, size_t n)
{
    if (sink->length + 1 >= sink->room)
        return 0;
    size_t left = sink->room - 1 - sink->length;
    return n < left ? n : left;
}

static void put_bytes(struct sink *sink, const char *bytes, size_t n)
{
    size_t fit = fitting(sink, n);
    if (fit > 0)
        __plx_m_memmove(sink->to + sink->length, bytes, fit);
    sink->length += n;
}

static void put_times(struct sink *sink, char c, int times)
{
    for (; times > 0; times--) {
        if (fitting(sink, 1))
            sink->to[sink->length] = c;
        sink->length++;
    }
}

/* Text in a field: blanks on one side. */
static void put_field(struct sink *sink, const struct conversion *conversion, const char *bytes,
                      size_t n)
{
    int blanks = conversion->width > (int)n ? conversion->width - (int)n : 0;
    if (!conversion->left)
        put_times(sink, ' ', blanks);
    put_bytes(sink, bytes, n);
    if (conversion->left)
        put_times(sink, ' ', blanks);
}

/* An argument of an integer conversion. */
struct integer {
    unsigned long magnitude;
    int is_negative;
    /* Its value has no more than 32 bits, which makes for smaller expressions. */
    int is_short;
};

static struct integer take_signed(enum length length, va_list *arguments)
{
    long value;
    int is_short = length < length_long;
    if (!is_short)
        value = va_arg(*arguments, long);
    else
        value = va_arg(*arguments, int);
    if (length == length_short)
        value = (short)value;
    else if (length == length_char)
        value = (signed char)value;
    struct integer result = {(unsigned long)value, value < 0, is_short};
    if (result.is_negative)
        result.magnitude = 0 - result.magnitude;
    return result;
}

static struct integer take_unsigned(enum length length, va_list *arguments)
{
    unsigned long value;
    int is_short = length < length_long;
    if (!is_short)
        value = va_arg(*arguments, unsigned long);
    else
        value = va_arg(*arguments, unsigned);
    if (length == length_short)
        value = (unsigned short)value;
    else if (length == length_char)
        value = (unsigned char)value;
    return (struct integer){value, 0, is_short};
}

/* Digits of a number, none for 0, written so that they end at `end`; gives their start. */
#define DIGITS(name, type)                                                                         \
    static char *name(char *end, type value, char letter)                                          \
    {                                                                                              \
        int above_nine = letter == 'X' ? 'A' - '0' - 10 : 'a' - '0' - 10;                          \
        while (value != 0) {                                                                       \
            type digit;                                                                            \
            if (letter == 'o') {                                                                   \
                digit = value & 7;                                                                 \
                value >>= 3;                                                                       \
                *--end = (char)('0' + (int)digit);                                                 \
            } else if (letter == 'x' || letter == 'X') {                                           \
                digit = value & 15;                                                                \
                value >>= 4;                                                                       \
                /* Not a branch: either way it is one digit. */                                    \
                *--end = (char)('0' + (int)digit + (digit > 9) * above_nine);                      \
            } else {                                                                               \
                digit = value % 10;                                                                \
                value /= 10;                                                                       \
                *--end = (char)('0' + (int)digit);                                                 \
            }                                                                                      \
        }                                                                                          \
        return end;                                                                                \
    }
DIGITS(digits_of_short, unsigned)
DIGITS(digits_of_long, unsigned long)

static void put_integer(struct sink *sink, struct conversion *conversion, va_list *arguments)
{
    char letter = conversion->letter, buffer[24], *end = buffer + sizeof buffer, *digits;
    int is_signed = letter == 'd' || letter == 'i';
    struct integer integer = is_signed ? take_signed(conversion->length, arguments)
                                       : take_unsigned(conversion->length, arguments);
    if (integer.is_short)
        digits = digits_of_short(end, (unsigned)integer.magnitude, letter);
    else
        digits = digits_of_long(end, integer.magnitude, letter);
    int count = (int)(end - digits);

    char prefix[2];
    int prefix_size = 0;
    if (is_signed && integer.is_negative)
        prefix[prefix_size++] = '-';
    else if (is_signed && conversion->plus)
        prefix[prefix_size++] = '+';
    else if (is_signed && conversion->space)
        prefix[prefix_size++] = ' ';
    /* The number of digits says whether it is 0. */
    if (conversion->alternative && (letter == 'x' || letter == 'X') && count > 0) {
        prefix[prefix_size++] = '0';
        prefix[prefix_size++] = letter;
    }

    int least = conversion->precision == WITHOUT ? 1 : conversion->precision;
    int zeros = least > count ? least - count : 0;
    if (letter == 'o' && conversion->alternative && zeros == 0)
        zeros = 1;
    int blanks = conversion->width - prefix_size - zeros - count;
    if (blanks > 0 && conversion->zero && !conversion->left && conversion->precision == WITHOUT) {
        zeros += blanks;
        blanks = 0;
    }
    if (!conversion->left)
        put_times(sink, ' ', blanks);
    put_bytes(sink, prefix, (size_t)prefix_size);
    put_times(sink, '0', zeros);
    put_bytes(sink, digits, (size_t)count);
    if (conversion->left)
        put_times(sink, ' ', blanks);
}

static void put_string(struct sink *sink, const struct conversion *conversion, const char *s)
{
    int precision = conversion->precision;
    if (s == NULL)
        s = precision == WITHOUT || precision >= 6 ? "(null)" : "";
    size_t n = precision == WITHOUT ? __plx_m_strlen(s) : __plx_m_strnlen(s, (size_t)precision);
    put_field(sink, conversion, s, n);
}

/* A conversion that libc writes straight to where it belongs. */
static void put_by_libc(struct sink *sink, const struct conversion *conversion, va_list *arguments)
{
    char format[16], *at = format;
    *at++ = '%';
    if (conversion->left)
        *at++ = '-';
    if (conversion->plus)
        *at++ = '+';
    if (conversion->space)
        *at++ = ' ';
    if (conversion->alternative)
        *at++ = '#';
    if (conversion->zero)
        *at++ = '0';
    memcpy(at, "*.*", 3);
    at += 3;
    if (conversion->length == length_long_double)
        *at++ = 'L';
    *at++ = conversion->letter;
    *at = '\0';

    int width = conversion->width, precision = conversion->precision, length;
    size_t left = sink->length < sink->room ? sink->room - sink->length : 0;
    char *to = left > 0 ? sink->to + sink->length : NULL;
    if (conversion->letter == 'm') {
        length = snprintf(to, left, format, width, precision);
    } else if (conversion->letter == 'p') {
        void *value = va_arg(*arguments, void *);
        if (LABELLED(value))
            LOSE(sink->name);
        length = snprintf(to, left, format, width, precision, value);
    } else if (conversion->length == length_long_double) {
        long double value = va_arg(*arguments, long double);
        if (LABELLED(value))
            LOSE(sink->name);
        length = snprintf(to, left, format, width, precision, value);
    } else {
        double value = va_arg(*arguments, double);
        if (LABELLED(value))
            LOSE(sink->name);
        length = snprintf(to, left, format, width, precision, value);
    }
    if (length < 0)
        return;
    if (left > 0)
        __plx_clear(to, (size_t)length < left ? (size_t)length + 1 : left);
    sink->length += (size_t)length;
}

static void store_length(const struct sink *sink, const struct conversion *conversion,
                         va_list *arguments)
{
    void *to = va_arg(*arguments, void *);
    switch (conversion->length) {
    case length_char:
        *(char *)to = (char)sink->length;
        break;
    case length_short:
        *(short *)to = (short)sink->length;
        break;
    case length_int:
        *(int *)to = (int)sink->length;
        break;
    default:
        *(long *)to = (long)sink->length;
    }
}

/* Takes width and precision from the arguments where the format says so. */
static void complete(struct conversion *conversion, va_list *arguments)
{
    if (conversion->width_is_argument) {
        conversion->width = va_arg(*arguments, int);
        if (conversion->width < 0) {
            conversion->left = 1;
            conversion->width = -conversion->width;
        }
    }
    if (conversion->precision_is_argument) {
        conversion->precision = va_arg(*arguments, int);
        if (conversion->precision < 0)
            conversion->precision = WITHOUT;
    }
}

static void put_all(struct sink *sink, const char *format, va_list *arguments)
{
    while (*format != '\0') {
        const char *text = format;
        while (*format != '\0' && *format != '%')
            format++;
        put_bytes(sink, text, (size_t)(format - text));
        if (*format == '\0')
            break;
        struct conversion conversion;
        format = parse_conversion(format + 1, &conversion);
        complete(&conversion, arguments);
        switch (conversion.letter) {
        case '%':
            put_bytes(sink, "%", 1);
            break;
        case 'c': {
            char c = (char)va_arg(*arguments, int);
            put_field(sink, &conversion, &c, 1);
            break;
        }
        case 's':
            put_string(sink, &conversion, va_arg(*arguments, const char *));
            break;
        case 'n':
            store_length(sink, &conversion, arguments);
            break;
        case 'd':
        case 'i':
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            put_integer(sink, &conversion, arguments);
            break;
        default:
            put_by_libc(sink, &conversion, arguments);
        }
    }
    if (sink->room > 0)
        sink->to[sink->length < sink->room ? sink->length : sink->room - 1] = '\0';
}

/* What a format and its arguments are. */
enum kind {
    /* Nothing is labelled: libc does it. */
    plain,
    /* The model does it. */
    symbolic,
    /* Only libc can do it, and labels are lost. */
    foreign
};

/* Whether one of the slots is labelled or points to something that is. */
static int has_labels(const char *from, size_t size)
{
    if (__plx_peek(from, size))
        return 1;
    for (size_t at = 0; at + sizeof(void *) <= size; at += sizeof(void *))
        if (__plx_peek(*(void *const *)(const void *)(from + at), 1))
            return 1;
    return 0;
}

/* Whether arguments seem to be labelled, when the format does not say what they are. Of the
 * area of a va_list that holds registers, the general ones come first. What lies beyond them and in
 * memory is looked at as far as calls usually reach. */
static int seem_labelled(va_list arguments)
{
    enum { saved_bytes = 176, general_bytes = 48, memory_bytes = 64 };
    const char *saved = arguments->reg_save_area;
    size_t used = arguments->gp_offset;
    return (used < general_bytes && has_labels(saved + used, general_bytes - used)) ||
           __plx_peek(saved + general_bytes, saved_bytes - general_bytes) ||
           has_labels(arguments->overflow_arg_area, memory_bytes);
}

static int is_text_labelled(const char *s, int precision)
{
    if (s == NULL)
        return 0;
    size_t n = precision == WITHOUT ? strlen(s) : strnlen(s, (size_t)precision);
    return __plx_peek(s, precision == WITHOUT || n < (size_t)precision ? n + 1 : n) != 0;
}

/* Takes width and precision, if they are arguments. Whether they are labelled, or -1 if they are
 * too large. */
static int is_size_labelled(struct conversion *conversion, va_list *arguments)
{
    int found = 0;
    if (conversion->width_is_argument) {
        int width = va_arg(*arguments, int);
        found |= LABELLED(width);
        conversion->width = width;
    }
    if (conversion->precision_is_argument) {
        int precision = va_arg(*arguments, int);
        found |= LABELLED(precision);
        conversion->precision = precision < 0 ? WITHOUT : precision;
    }
    if (conversion->width > MOST || conversion->width < -MOST || conversion->precision > MOST)
        return -1;
    return found;
}

/* Whether the conversion's own argument is labelled; takes it. */
static int is_labelled(const struct conversion *conversion, va_list *arguments)
{
    switch (conversion->letter) {
    case '%':
    case 'm':
        return 0;
    case 's': {
        const char *s = va_arg(*arguments, const char *);
        return LABELLED(s) || is_text_labelled(s, conversion->precision);
    }
    case 'n': {
        /* What is written there loses its labels, and only the model sees to that. */
        va_arg(*arguments, void *);
        return 1;
    }
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'c':
    case 'p': {
        long value = 0;
        if (conversion->length >= length_long || conversion->letter == 'p')
            value = va_arg(*arguments, long);
        else
            value = va_arg(*arguments, int);
        return LABELLED(value);
    }
    default:
        if (conversion->length == length_long_double) {
            long double value = va_arg(*arguments, long double);
            return LABELLED(value);
        } else {
            double value = va_arg(*arguments, double);
            return LABELLED(value);
        }
    }
}

static enum kind survey(const char *format, va_list arguments)
{
    va_list rest;
    va_copy(rest, arguments);
    enum kind kind = __plx_peek(format, strlen(format) + 1) ? symbolic : plain;
    while (*format != '\0') {
        if (*format++ != '%')
            continue;
        struct conversion conversion;
        format = parse_conversion(format, &conversion);
        if (format == NULL) {
            kind = kind == symbolic || seem_labelled(rest) ? foreign : plain;
            break;
        }
        int size = is_size_labelled(&conversion, &rest);
        if (size < 0) {
            kind = kind == symbolic || seem_labelled(rest) ? foreign : plain;
            break;
        }
        if (is_labelled(&conversion, &rest) || size)
            kind = symbolic;
    }
    va_end(rest);
    return kind;
}

/* After libc has written to memory. */
static int written(char *to, size_t size, int length)
{
    if (length >= 0 && size > 0)
        __plx_clear(to, (size_t)length < size ? (size_t)length + 1 : size);
    return length;
}

static int render(char *to, size_t size, const char *format, va_list arguments, const char *name)
{
    struct sink sink = {to, size, 0, name};
    va_list rest;
    va_copy(rest, arguments);
    put_all(&sink, format, &rest);
    va_end(rest);
    return (int)sink.length;
}

/* Whether the model is to write the result; says so if labels are lost. */
static int is_for_model(const char *format, va_list arguments, const char *name)
{
    enum kind kind = survey(format, arguments);
    if (kind == foreign)
        LOSE(name);
    return kind == symbolic;
}

int __plx_m_vsprintf(char *to, const char *format, va_list arguments)
{
    if (is_for_model(format, arguments, "sprintf"))
        return render(to, ENDLESS, format, arguments, "sprintf");
    return written(to, ENDLESS, vsprintf(to, format, arguments));
}

int __plx_m_vsnprintf(char *to, size_t size, const char *format, va_list arguments)
{
    if (is_for_model(format, arguments, "snprintf"))
        return render(to, size, format, arguments, "snprintf");
    return written(to, size, vsnprintf(to, size, format, arguments));
}

/* The length of the result; -1 if there will be none. */
static int measure(const char *format, va_list arguments)
{
    va_list rest;
    va_copy(rest, arguments);
    int length = vsnprintf(NULL, 0, format, rest);
    va_end(rest);
    return length;
}

/* Whether libc has to look at a format with %n: fortified programs must not use it in one that could
 * have been tampered with. */
static int is_refused(int flag, const char *format)
{
    struct conversion conversion = {0};
    while (flag > 0 && *format != '\0' && conversion.letter != 'n')
        if (*format++ == '%')
            format = parse_conversion(format, &conversion);
    return conversion.letter == 'n';
}

int __plx_m___vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments)
{
    if (is_for_model(format, arguments, "sprintf") && !is_refused(flag, format)) {
        int length = measure(format, arguments);
        if (length >= 0 && (size_t)length < room)
            return render(to, ENDLESS, format, arguments, "sprintf");
    }
    return written(to, ENDLESS, __vsprintf_chk(to, flag, room, format, arguments));
}

int __plx_m___vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format,
                            va_list arguments)
{
    if (room >= size && is_for_model(format, arguments, "snprintf") && !is_refused(flag, format))
        return render(to, size, format, arguments, "snprintf");
    return written(to, size, __vsnprintf_chk(to, size, flag, room, format, arguments));
}

/* The result in memory of its own, or -1 without memory. */
static int allocate(char **to, const char *format, va_list arguments)
{
    int length = measure(format, arguments);
    if (length < 0)
        return -1;
    char *text = __plx_m_malloc((size_t)length + 1);
    if (text == NULL)
        return -1;
    *to = text;
    return render(text, (size_t)length + 1, format, arguments, "asprintf");
}

int __plx_m_vasprintf(char **to, const char *format, va_list arguments)
{
    if (is_for_model(format, arguments, "asprintf"))
        return allocate(to, format, arguments);
    int length = vasprintf(to, format, arguments);
    __plx_clear(to, sizeof *to);
    return length < 0 ? length : written(*to, (size_t)length + 1, length);
}

int __plx_m___vasprintf_chk(char **to, int flag, const char *format, va_list arguments)
{
    if (is_for_model(format, arguments, "asprintf") && !is_refused(flag, format))
        return allocate(to, format, arguments);
    int length = __vasprintf_chk(to, flag, format, arguments);
    __plx_clear(to, sizeof *to);
    return length < 0 ? length : written(*to, (size_t)length + 1, length);
}

#define VARIADIC(name, parameters, forwarded)                                                      \
    int __plx_m_##name parameters                                                                  \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        int length = forwarded;                                                                    \
        va_end(arguments);                                                                         \
        return length;                                                                             \
    }

VARIADIC(sprintf, (char *to, const char *format, ...), __plx_m_vsprintf(to, format, arguments))
VARIADIC(snprintf, (char *to, size_t size, const char *format, ...),
         __plx_m_vsnprintf(to, size, format, arguments))
VARIADIC(asprintf, (char **to, const char *format, ...), __plx_m_vasprintf(to, format, arguments))
VARIADIC(__sprintf_chk, (char *to, int flag, size_t room, const char *format, ...),
         __plx_m___vsprintf_chk(to, flag, room, format, arguments))
VARIADIC(__snprintf_chk, (char *to, size_t size, int flag, size_t room, const char *format, ...),
         __plx_m___vsnprintf_chk(to, size, flag, room, format, arguments))
VARIADIC(__asprintf_chk, (char **to, int flag, const char *format, ...),
         __plx_m___vasprintf_chk(to, flag, format, arguments))
