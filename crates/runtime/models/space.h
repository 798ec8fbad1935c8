/* White space, as parsers of numbers skip it. */
#ifndef PARALLAX_SPACE_H
#define PARALLAX_SPACE_H

#include <ctype.h>

/* The blanks of C, in one expression without branches. */
static inline int is_blank_of_c(unsigned char c)
{
    return (c == ' ') | ((unsigned)c - '\t' < 5);
}

/* Whether the locale's table says the same of every character. The last answer is kept; tables do not
 * move while they are in use. */
static inline int has_blanks_of_c(const unsigned short *classes)
{
    static const unsigned short *asked;
    static int answer;
    if (classes != asked) {
        int same = 1;
        for (unsigned c = 0; c < 256; c++)
            same &= is_blank_of_c((unsigned char)c) ==
                    ((classes[c] & (unsigned short)_ISspace) != 0);
        answer = same;
        asked = classes;
    }
    return answer;
}

/* A read from the table would do, but is a much larger expression. */
static inline int is_space(unsigned char c)
{
    const unsigned short *classes = *__ctype_b_loc();
    if (has_blanks_of_c(classes))
        return is_blank_of_c(c);
    return (classes[c] & (unsigned short)_ISspace) != 0;
}

#endif
