/* string.h: strverscmp, which compares runs of digits as numbers. */
#include "model.h"
#include <string.h>

/* What the strings have in common ends in one of these. */
enum run {
    /* No digit. */
    TEXT,
    /* Digits that do not start with 0: an integer. */
    INTEGER,
    /* Zeros only. */
    ZEROS,
    /* Zeros, then other digits: the fraction of a number. */
    FRACTION,
};

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum run continued(enum run run, char c)
{
    if (!is_digit(c))
        return TEXT;
    if (run == TEXT)
        return c == '0' ? ZEROS : INTEGER;
    if (run == ZEROS && c != '0')
        return FRACTION;
    return run;
}

/* Of two integers the one with more digits is larger. */
static int compare_integers(const char *a, const char *b)
{
    int difference = (unsigned char)*a - (unsigned char)*b;
    for (;;) {
        a++;
        b++;
        if (!is_digit(*a))
            return is_digit(*b) ? -1 : difference;
        if (!is_digit(*b))
            return 1;
    }
}

int __plx_m_strverscmp(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b);
    if (!__plx_peek(a, length_a + 1) && !__plx_peek(b, length_b + 1))
        return strverscmp(a, b);
    enum run run = TEXT;
    while (*a == *b) {
        if (*a == '\0')
            return 0;
        run = continued(run, *a);
        a++;
        b++;
    }
    int difference = (unsigned char)*a - (unsigned char)*b;
    int a_goes_on = is_digit(*a), b_goes_on = is_digit(*b);
    switch (run) {
    case TEXT:
        if (a_goes_on && b_goes_on && *a != '0' && *b != '0')
            return compare_integers(a, b);
        return difference;
    case INTEGER:
        if (a_goes_on && b_goes_on)
            return compare_integers(a, b);
        if (a_goes_on != b_goes_on)
            return a_goes_on ? 1 : -1;
        return difference;
    case ZEROS:
        /* The longer fraction of zeros is the smaller one. */
        if (a_goes_on != b_goes_on)
            return a_goes_on ? -1 : 1;
        return difference;
    case FRACTION:
        return difference;
    }
    return difference;
}
