/* Floating-point numbers from text: what strtod and its family read, before it has a value. */
#ifndef PARALLAX_FLOAT_H
#define PARALLAX_FLOAT_H

/* What kind of text it is. */
enum shape {
    no_number,
    /* "inf" or "nan": the value is libc's. */
    named,
    /* mantissa times 10 or 2 to the exponent. */
    decimal,
    hexadecimal
};

struct reading {
    enum shape shape;
    int is_negative;
    /* Mantissa and exponent are not all of the number: too many digits. */
    int is_cut;
    unsigned long mantissa;
    long exponent;
};

#endif
