/* One conversion of a printf format, as far as the models know them. */
#ifndef PARALLAX_FORMAT_H
#define PARALLAX_FORMAT_H

/* How wide an argument is; from length_long on it has the size of a long or is a long double. */
enum length {
    length_char,
    length_short,
    length_int,
    length_long,
    length_word,
    length_long_double
};

struct conversion {
    int left, plus, space, alternative, zero;
    /* As written, or taken from the arguments where these say so. */
    int width, precision;
    int width_is_argument, precision_is_argument;
    enum length length;
    char letter;
};

/* No precision was given. */
#define WITHOUT (-1)
/* Widths and precisions beyond this are left to libc, which knows when a result is too long. */
#define MOST 100000

/* Reads the conversion that follows a '%'. Gives what comes after it, or NULL if it is one that only
 * libc itself understands (positions, grouping, wide characters, mistakes). */
static const char *parse_conversion(const char *s, struct conversion *conversion)
{
    *conversion = (struct conversion){.precision = WITHOUT, .length = length_int};
    for (;; s++) {
        if (*s == '-')
            conversion->left = 1;
        else if (*s == '+')
            conversion->plus = 1;
        else if (*s == ' ')
            conversion->space = 1;
        else if (*s == '#')
            conversion->alternative = 1;
        else if (*s == '0')
            conversion->zero = 1;
        else
            break;
    }
    if (*s == '*') {
        conversion->width_is_argument = 1;
        s++;
    }
    while (!conversion->width_is_argument && *s >= '0' && *s <= '9') {
        conversion->width = 10 * conversion->width + (*s++ - '0');
        if (conversion->width > MOST)
            return NULL;
    }
    if (*s == '.') {
        conversion->precision = 0;
        if (*++s == '*') {
            conversion->precision_is_argument = 1;
            s++;
        }
        while (!conversion->precision_is_argument && *s >= '0' && *s <= '9') {
            conversion->precision = 10 * conversion->precision + (*s++ - '0');
            if (conversion->precision > MOST)
                return NULL;
        }
    }
    switch (*s) {
    case 'h':
        conversion->length = *++s == 'h' ? s++, length_char : length_short;
        break;
    case 'l':
        /* "ll" and "L" are one to libc. */
        conversion->length = *++s == 'l' ? s++, length_long_double : length_long;
        break;
    case 'L':
    case 'q':
        conversion->length = length_long_double;
        s++;
        break;
    case 'j':
    case 'z':
    case 'Z':
    case 't':
        conversion->length = length_word;
        s++;
        break;
    }
    conversion->letter = *s;
    enum length length = conversion->length;
    switch (*s) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
    case 'n':
        return s + 1;
    case 'c':
    case 's':
        return length > length_int ? NULL : s + 1;
    case 'p':
    case 'm':
    case '%':
        return s + 1;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        return length == length_int || length == length_long || length == length_long_double
                   ? s + 1
                   : NULL;
    default:
        return NULL;
    }
}

#endif
