/* Formatted input: numbers. */
#ifndef PARALLAX_SCAN_NUMBER_H
#define PARALLAX_SCAN_NUMBER_H

#include "digit.h"
#include "scan_source.h"
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <stdarg.h>

float __plx_m_strtof(const char *text, char **end);
double __plx_m_strtod(const char *text, char **end);
long double __plx_m_strtold(const char *text, char **end);

static void store(struct directive *directive, va_list *arguments, unsigned long value)
{
    void *to = va_arg(*arguments, void *);
    switch (directive->size) {
    case size_char:
        *(unsigned char *)to = (unsigned char)value;
        break;
    case size_short:
        *(unsigned short *)to = (unsigned short)value;
        break;
    case size_int:
        *(unsigned *)to = (unsigned)value;
        break;
    default:
        *(unsigned long *)to = value;
    }
}

/* The digits of a number as they come in. */
struct digits {
    unsigned long magnitude;
    int base, count, is_negative, is_too_large;
};

static void add_digit(struct digits *digits, int digit)
{
    /* So many digits of the largest base always fit; only then there is something to ask. */
    enum { safe_digits = 15 };
    unsigned long base = (unsigned long)digits->base;
    if (digits->count++ >= safe_digits &&
        (digits->magnitude > ULONG_MAX / base ||
         (digits->magnitude == ULONG_MAX / base && (unsigned long)digit > ULONG_MAX % base)))
        digits->is_too_large = 1;
    else
        digits->magnitude = digits->magnitude * base + (unsigned long)digit;
}

/* The number as strtol or strtoul would give it. */
static unsigned long value_of(const struct digits *digits, int is_signed)
{
    unsigned long magnitude = digits->magnitude;
    if (is_signed) {
        unsigned long most = (unsigned long)LONG_MAX;
        if (digits->is_negative)
            most++;
        if (digits->is_too_large || magnitude > most) {
            errno = ERANGE;
            return most;
        }
    } else if (digits->is_too_large) {
        errno = ERANGE;
        return ULONG_MAX;
    }
    return digits->is_negative ? 0 - magnitude : magnitude;
}

/* The rest of "(nil)". */
static int is_null_pointer(struct source *from)
{
    return next(from) && is_letter(from->c, 'n') && next(from) && is_letter(from->c, 'i') &&
           next(from) && is_letter(from->c, 'l') && next(from) && from->c == ')';
}

/* Takes the sign; false if nothing comes after it. */
static int take_sign(struct source *from, int *width, int *is_negative, int *is_signed)
{
    *is_signed = 0;
    if (from->c == '-')
        *is_negative = 1;
    else if (from->c != '+')
        return 1;
    *is_signed = 1;
    if (*width > 0)
        --*width;
    return next(from);
}

static enum outcome scan_integer(struct source *from, struct directive *directive, int base,
                                 enum dialect dialect, va_list *arguments)
{
    struct digits digits = {.base = base};
    int width = directive->width, has_sign, letter = directive->letter;
    if (!next(from))
        return no_input;
    int more = take_sign(from, &width, &digits.is_negative, &has_sign);
    if (more && width != 0 && from->c == '0') {
        if (width > 0)
            width--;
        digits.count = 1;
        more = next(from);
        int may_prefix = more && width != 0;
        if (may_prefix && is_letter(from->c, 'x') && (base == 0 || base == 16)) {
            digits.base = 16;
            if (width > 0)
                width--;
            more = next(from);
        } else if (may_prefix && dialect == dialect_c23 && base == 0 && is_letter(from->c, 'b')) {
            digits.base = 2;
            if (width > 0)
                width--;
            more = next(from);
        } else if (base == 0 && !(may_prefix && is_letter(from->c, 'x'))) {
            digits.base = 8;
        }
    }
    if (digits.base == 0)
        digits.base = 10;
    while (more && width != 0) {
        int digit;
        if (!read_digit((char)from->c, digits.base, &digit))
            break;
        add_digit(&digits, digit);
        if (width > 0)
            width--;
        more = next(from);
    }
    if (digits.count == 0) {
        int is_null = letter == 'p' && !has_sign && (width < 0 || width >= 5) && more &&
                      from->c == '(' && is_null_pointer(from);
        if (!is_null) {
            put_back(from);
            return no_match;
        }
    } else {
        put_back(from);
    }
    unsigned long value = value_of(&digits, letter == 'd' || letter == 'i');
    if (!directive->is_suppressed)
        store(directive, arguments, value);
    return fine;
}

/* The text of a number, in memory that grows. */
struct text {
    char *bytes, first[64];
    size_t size, capacity;
    int failed;
};

static void add(struct text *text, char c)
{
    if (text->size == text->capacity) {
        char *larger = __plx_m_malloc(2 * text->capacity);
        if (larger == NULL) {
            text->failed = 1;
            return;
        }
        __plx_m_memcpy(larger, text->bytes, text->size);
        if (text->bytes != text->first)
            __plx_m_free(text->bytes);
        text->bytes = larger;
        text->capacity *= 2;
    }
    text->bytes[text->size++] = c;
}

/* Takes the rest of a word, its first letter being there; false if it is another word. */
static int take_word(struct source *from, int *width, const char *rest, struct text *text)
{
    add(text, (char)from->c);
    for (; *rest != '\0'; rest++) {
        if (*width == 0 || !next(from) || !is_letter(from->c, *rest))
            return 0;
        if (*width > 0)
            --*width;
        add(text, (char)from->c);
    }
    return 1;
}

/* Takes what can be digits, point and exponent. */
static void take_digits(struct source *from, int width, int more, int is_hexadecimal, int has_digit,
                        struct text *text)
{
    char point = *nl_langinfo(RADIXCHAR), exponent_letter = is_hexadecimal ? 'p' : 'e';
    int has_point = 0, has_exponent = 0, may_be_sign = 0;
    while (more) {
        unsigned char c = from->c;
        int base = is_hexadecimal && !has_exponent ? 16 : 10, digit;
        if (read_digit((char)c, base, &digit)) {
            add(text, (char)c);
            has_digit = 1;
            may_be_sign = 0;
        } else if (may_be_sign && (c == '-' || c == '+')) {
            add(text, (char)c);
            may_be_sign = 0;
        } else if (has_digit && !has_exponent && is_letter(c, exponent_letter)) {
            add(text, exponent_letter);
            has_exponent = has_point = may_be_sign = 1;
        } else if (!has_point && c == (unsigned char)point) {
            add(text, point);
            has_point = 1;
        } else {
            put_back(from);
            return;
        }
        if (width == 0 || !next(from))
            return;
        if (width > 0)
            width--;
    }
}

/* Reads a floating-point number's text. */
static enum outcome take_float(struct source *from, int width, struct text *text)
{
    int is_hexadecimal = 0, has_digit = 0, has_sign = 0, more = 1;
    if (!next(from))
        return no_input;
    if (width > 0)
        width--;
    if (from->c == '-' || from->c == '+') {
        has_sign = 1;
        add(text, (char)from->c);
        if (width == 0 || !next(from))
            return no_match;
        if (width > 0)
            width--;
    }
    if (is_letter(from->c, 'n'))
        return take_word(from, &width, "an", text) ? fine : no_match;
    if (is_letter(from->c, 'i')) {
        if (!take_word(from, &width, "nf", text))
            return no_match;
        if (width == 0 || !next(from))
            return fine;
        if (!is_letter(from->c, 'i')) {
            put_back(from);
            return fine;
        }
        if (width > 0)
            width--;
        return take_word(from, &width, "nity", text) ? fine : no_match;
    }
    if (width != 0 && from->c == '0') {
        add(text, '0');
        more = next(from);
        if (width > 0)
            width--;
        if (more && width != 0 && is_letter(from->c, 'x')) {
            add(text, (char)from->c);
            is_hexadecimal = 1;
            more = next(from);
            if (width > 0)
                width--;
        } else {
            has_digit = 1;
        }
    }
    take_digits(from, width, more, is_hexadecimal, has_digit, text);
    size_t before = (size_t)has_sign + (is_hexadecimal ? 2 : 0);
    return text->size == before ? no_match : fine;
}

static enum outcome scan_float(struct source *from, struct directive *directive, va_list *arguments)
{
    struct text text = {.capacity = sizeof text.first};
    text.bytes = text.first;
    enum outcome outcome = take_float(from, directive->width, &text);
    if (outcome == fine) {
        char *end;
        add(&text, '\0');
        int is_stored = !directive->is_suppressed;
        if (text.failed) {
            outcome = no_match;
        } else if (directive->size == size_long_double) {
            long double value = __plx_m_strtold(text.bytes, &end);
            if (is_stored && end != text.bytes)
                *va_arg(*arguments, long double *) = value;
        } else if (directive->size == size_long) {
            double value = __plx_m_strtod(text.bytes, &end);
            if (is_stored && end != text.bytes)
                *va_arg(*arguments, double *) = value;
        } else {
            float value = __plx_m_strtof(text.bytes, &end);
            if (is_stored && end != text.bytes)
                *va_arg(*arguments, float *) = value;
        }
        if (outcome == fine && end == text.bytes)
            outcome = no_match;
    }
    if (text.bytes != text.first)
        __plx_m_free(text.bytes);
    return outcome;
}

#endif
