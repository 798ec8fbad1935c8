/* stdlib.h: floating-point numbers from text.
 *
 * The text is read by branches, so that the end is where it is by the path. The value is an
 * expression where one operation gives the correctly rounded result: the mantissa fits and so does the power
 * of ten, both exactly, and what they are multiplied or divided to is rounded once. Elsewhere
 * libc computes it, and the loss is noted. */
#include "model.h"
#include "digit.h"
#include "float.h"
#include "space.h"
#include <errno.h>
#include <float.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* glibc's functions with digit grouping, which no header declares. */
float __strtof_internal(const char *text, char **end, int group);
double __strtod_internal(const char *text, char **end, int group);
long double __strtold_internal(const char *text, char **end, int group);

static int is_digit(char c)
{
    return (unsigned)(unsigned char)c - '0' < 10;
}

/* Whether the text begins with a word of small letters, whatever its case. */
static int begins_with(const char *s, const char *word)
{
    for (; *word != '\0'; s++, word++)
        if ((*s | 0x20) != *word)
            return 0;
    return 1;
}

/* Whether the text begins with these characters. */
static int has_prefix(const char *s, const char *prefix)
{
    for (; *prefix != '\0'; s++, prefix++)
        if (*s != *prefix)
            return 0;
    return 1;
}

/* Reads "inf", "infinity", "nan" or "nan(...)"; gives its end or NULL. */
static const char *read_name(const char *s)
{
    if (begins_with(s, "inf"))
        return begins_with(s + 3, "inity") ? s + 8 : s + 3;
    if (!begins_with(s, "nan"))
        return NULL;
    s += 3;
    if (*s != '(')
        return s;
    const char *at = s + 1;
    while (is_digit(*at) || (unsigned)((*at | 0x20) - 'a') < 26 || *at == '_')
        at++;
    return *at == ')' ? at + 1 : s;
}

/* Digits before and after the point. Gives their end. */
static const char *read_digits(const char *s, int base, const char *point, struct reading *reading)
{
    /* So many digits always fit. */
    int room = base == 16 ? 16 : 19, per_digit = base == 16 ? 4 : 1, behind_point = 0, digit;
    for (;;) {
        if (!behind_point && has_prefix(s, point)) {
            s += strlen(point);
            behind_point = 1;
        }
        if (!read_digit(*s, base, &digit))
            return s;
        s++;
        /* Zeros in front need no room. */
        if (room == (base == 16 ? 16 : 19) && digit == 0) {
            if (behind_point)
                reading->exponent -= per_digit;
            continue;
        }
        if (room == 0) {
            reading->is_cut = 1;
            continue;
        }
        reading->mantissa = reading->mantissa * (unsigned long)base + (unsigned long)digit;
        room--;
        if (behind_point)
            reading->exponent -= per_digit;
    }
}

/* An exponent, if there is one. Gives its end. */
static const char *read_exponent(const char *s, struct reading *reading)
{
    /* More digits than those of any exponent that matters. */
    enum { most_digits = 6 };
    if ((*s | 0x20) != (reading->shape == hexadecimal ? 'p' : 'e'))
        return s;
    const char *at = s + 1;
    int is_negative = 0, count = 0;
    if (*at == '-') {
        is_negative = 1;
        at++;
    } else if (*at == '+') {
        at++;
    }
    if (!is_digit(*at))
        return s;
    long exponent = 0;
    for (; is_digit(*at); at++) {
        if (++count > most_digits)
            reading->is_cut = 1;
        else
            exponent = 10 * exponent + (*at - '0');
    }
    reading->exponent += is_negative ? -exponent : exponent;
    return at;
}

/* Whether a number starts here: a digit, or the point and a digit. */
static int starts_number(const char *s, int base, const char *point)
{
    int digit;
    if (read_digit(*s, base, &digit))
        return 1;
    return has_prefix(s, point) && read_digit(s[strlen(point)], base, &digit);
}

/* Reads as much of the text as is a number. Gives its end. */
static const char *read_number(const char *text, struct reading *reading)
{
    const char *s = text, *point = nl_langinfo(RADIXCHAR), *end;
    *reading = (struct reading){.shape = no_number};
    while (is_space((unsigned char)*s))
        s++;
    if (*s == '-') {
        reading->is_negative = 1;
        s++;
    } else if (*s == '+') {
        s++;
    }
    if (!starts_number(s, 10, point)) {
        end = read_name(s);
        if (end == NULL)
            return text;
        reading->shape = named;
        return end;
    }
    if (s[0] == '0' && (s[1] | 0x20) == 'x' && starts_number(s + 2, 16, point)) {
        reading->shape = hexadecimal;
        s = read_digits(s + 2, 16, point, reading);
    } else {
        reading->shape = decimal;
        s = read_digits(s, 10, point, reading);
    }
    return read_exponent(s, reading);
}

/* A power as far as it is exact. The exponent is compared step by step: each possible one is a
 * branch, and the power itself is concrete. */
#define POWER(name, type)                                                                          \
    static type name(type base, long exponent)                                                     \
    {                                                                                              \
        type power = 1;                                                                            \
        for (long i = 0; i < exponent; i++)                                                        \
            power *= base;                                                                         \
        return power;                                                                              \
    }

/* The value as an expression; false if it takes more than one rounding. bits: of the mantissa.
 * ten: largest power of ten that is exact. two: powers of two that stay clear of the ends. */
#define EVALUATE(name, type, bits, ten, two)                                                       \
    POWER(name##_power, type)                                                                      \
    static int name(const struct reading *reading, type *value)                                    \
    {                                                                                              \
        unsigned long mantissa = reading->mantissa;                                                \
        long exponent = reading->exponent;                                                         \
        int is_decimal = reading->shape == decimal;                                                \
        if (reading->is_cut)                                                                       \
            return 0;                                                                              \
        if (mantissa == 0) {                                                                       \
            *value = 0;                                                                            \
            return 1;                                                                              \
        }                                                                                          \
        if ((bits) < 64 && mantissa >> ((bits) & 63) != 0)                                         \
            return 0;                                                                              \
        long most = is_decimal ? (ten) : (two);                                                    \
        if (exponent > most || exponent < -most)                                                   \
            return 0;                                                                              \
        if (exponent < 0)                                                                          \
            *value = (type)mantissa / name##_power(is_decimal ? 10 : 2, -exponent);                \
        else if (exponent > 0)                                                                     \
            *value = (type)mantissa * name##_power(is_decimal ? 10 : 2, exponent);                 \
        else                                                                                       \
            *value = (type)mantissa;                                                               \
        return 1;                                                                                  \
    }
EVALUATE(as_float, float, FLT_MANT_DIG, 10, 64)
EVALUATE(as_double, double, DBL_MANT_DIG, 22, 64)
EVALUATE(as_long_double, long double, LDBL_MANT_DIG, 27, 64)

#define CONVERT(type, name, evaluate)                                                              \
    type __plx_m_##name(const char *text, char **end)                                              \
    {                                                                                              \
        char *real_end;                                                                            \
        type value = name(text, &real_end);                                                        \
        /* How far it was looked at cannot be seen: anything up to the end counts. */              \
        if (!__plx_peek(text, strlen(text) + 1)) {                                                 \
            if (end != NULL)                                                                       \
                *end = real_end;                                                                   \
            return value;                                                                          \
        }                                                                                          \
        struct reading reading;                                                                    \
        const char *stop = read_number(text, &reading);                                            \
        if (end != NULL)                                                                           \
            *end = (char *)stop;                                                                   \
        if (reading.shape == no_number || reading.shape == named)                                  \
            return value;                                                                          \
        type expression;                                                                           \
        if (!evaluate(&reading, &expression)) {                                                    \
            LOSE(#name);                                                                              \
            return value;                                                                          \
        }                                                                                          \
        return reading.is_negative ? -expression : expression;                                     \
    }                                                                                              \
    type __plx_m___##name##_internal(const char *text, char **end, int group)                      \
    {                                                                                              \
        return group ? __##name##_internal(text, end, group) : __plx_m_##name(text, end);          \
    }
CONVERT(float, strtof, as_float)
CONVERT(double, strtod, as_double)
CONVERT(long double, strtold, as_long_double)

double __plx_m_atof(const char *text)
{
    return __plx_m_strtod(text, NULL);
}
