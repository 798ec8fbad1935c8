/* Digits of numbers. */
#ifndef PARALLAX_DIGIT_H
#define PARALLAX_DIGIT_H

/* Whether a character is a digit in the base, and which. As few comparisons as will do, because each is
 * a branch to explore; and whether it is one is told by the way taken, not by a symbolic value,
 * which would be asked again. */
__attribute__((always_inline)) static inline int read_digit(char c, int base, int *digit)
{
    unsigned decimal = (unsigned)(unsigned char)c - '0';
    if (decimal < (base < 10 ? (unsigned)base : 10)) {
        *digit = (int)decimal;
        return 1;
    }
    if (base <= 10)
        return 0;
    /* One case of letters; nothing else becomes a letter by this bit. */
    unsigned letter = ((unsigned)(unsigned char)c | 0x20) - 'a';
    if (letter >= (unsigned)base - 10)
        return 0;
    *digit = (int)letter + 10;
    return 1;
}

#endif
