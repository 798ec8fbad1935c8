/* stdlib.h: numbers from text, and absolute values.
 *
 * The conversions follow glibc where the standard leaves room: an invalid
 * base leaves the end pointer alone, and "0x" without a digit after it is the
 * number 0 followed by an x. */
#include "model.h"
#include "digit.h"
#include "space.h"
#include <errno.h>
#include <limits.h>

/* glibc's functions with digit grouping, which no header declares. */
long __strtol_internal(const char *text, char **end, int base, int group);
unsigned long __strtoul_internal(const char *text, char **end, int base, int group);

/* What was read: magnitude and sign, and whether the magnitude did not fit. */
struct number {
    unsigned long magnitude;
    int is_negative;
    int is_too_large;
};

/* How many digits always fit. */
static int safe_digits(int base)
{
    int count = 0;
    for (unsigned long rest = ULONG_MAX; rest >= (unsigned long)base; rest /= (unsigned long)base)
        count++;
    return count;
}

/* Reads a number; false if the base is not valid. binary: "0b" is a prefix, too. */
static int parse(const char *text, char **end, int base, int binary, struct number *number)
{
    number->magnitude = 0;
    number->is_negative = 0;
    number->is_too_large = 0;
    if (base < 0 || base == 1 || base > 36) {
        errno = EINVAL;
        return 0;
    }

    const char *s = text;
    while (is_space((unsigned char)*s))
        s++;
    if (*s == '-') {
        number->is_negative = 1;
        s++;
    } else if (*s == '+') {
        s++;
    }

    /* Where the number ends if no digit follows the prefix. */
    const char *without_digits = text;
    if ((base == 0 || base == 16) && s[0] == '0' && (s[1] | 0x20) == 'x') {
        base = 16;
        without_digits = s + 1;
        s += 2;
    } else if (binary && (base == 0 || base == 2) && s[0] == '0' && (s[1] | 0x20) == 'b') {
        base = 2;
        without_digits = s + 1;
        s += 2;
    } else if (base == 0) {
        base = s[0] == '0' ? 8 : 10;
    }

    const char *digits = s;
    unsigned long limit = ULONG_MAX / (unsigned long)base;
    unsigned long last = ULONG_MAX % (unsigned long)base;
    unsigned long magnitude = 0;
    int safe = safe_digits(base);
    for (int digit; read_digit(*s, base, &digit); s++) {
        if (s - digits >= safe &&
            (magnitude > limit || (magnitude == limit && (unsigned long)digit > last)))
            number->is_too_large = 1;
        else
            magnitude = magnitude * (unsigned long)base + (unsigned long)digit;
    }
    if (end != NULL)
        *end = (char *)(s == digits ? without_digits : s);
    if (s == digits)
        number->is_negative = 0;
    else
        number->magnitude = magnitude;
    return 1;
}

static long to_long(const char *text, char **end, int base, int binary)
{
    struct number number;
    if (!parse(text, end, base, binary, &number))
        return 0;
    unsigned long most = (unsigned long)LONG_MAX;
    if (number.is_negative)
        most++;
    if (number.is_too_large || number.magnitude > most) {
        errno = ERANGE;
        return number.is_negative ? LONG_MIN : LONG_MAX;
    }
    return (long)(number.is_negative ? 0 - number.magnitude : number.magnitude);
}

static unsigned long to_unsigned(const char *text, char **end, int base, int binary)
{
    struct number number;
    if (!parse(text, end, base, binary, &number))
        return 0;
    if (number.is_too_large) {
        errno = ERANGE;
        return ULONG_MAX;
    }
    return number.is_negative ? 0 - number.magnitude : number.magnitude;
}

long __plx_m_strtol(const char *text, char **end, int base)
{
    return to_long(text, end, base, 0);
}

unsigned long __plx_m_strtoul(const char *text, char **end, int base)
{
    return to_unsigned(text, end, base, 0);
}

/* What the headers of later glibc versions make of strtol in C23. */
long __plx_m___isoc23_strtol(const char *text, char **end, int base)
{
    return to_long(text, end, base, 1);
}

unsigned long __plx_m___isoc23_strtoul(const char *text, char **end, int base)
{
    return to_unsigned(text, end, base, 1);
}

long __plx_m___strtol_internal(const char *text, char **end, int base, int group)
{
    if (group)
        return __strtol_internal(text, end, base, group);
    return to_long(text, end, base, 0);
}

unsigned long __plx_m___strtoul_internal(const char *text, char **end, int base, int group)
{
    if (group)
        return __strtoul_internal(text, end, base, group);
    return to_unsigned(text, end, base, 0);
}

int __plx_m_atoi(const char *text)
{
    return (int)to_long(text, NULL, 10, 0);
}

long __plx_m_atol(const char *text)
{
    return to_long(text, NULL, 10, 0);
}

/* The most negative value stays as it is, as on the machine. */
int __plx_m_abs(int x)
{
    return x < 0 ? (int)(0u - (unsigned)x) : x;
}

long __plx_m_labs(long x)
{
    return x < 0 ? (long)(0ul - (unsigned long)x) : x;
}
