/* Selects columns of its input. The set of selected columns is a bit vector with room for the largest end of a closed
 * range; where an open range starts was forgotten. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct range {
    unsigned long low, high;
};

static struct range ranges[16];
static unsigned long n_ranges, open_from;
static unsigned char *selected;

static unsigned long number(const char **text)
{
    unsigned long value = 0;
    while (**text >= '0' && **text <= '9')
        value = 10 * value + (unsigned long)(*(*text)++ - '0');
    return value;
}

static int parse(const char *text)
{
    while (*text) {
        unsigned long low = number(&text), high = low;
        if (low == 0 || n_ranges == 16)
            return 0;
        if (*text == '-') {
            text++;
            high = number(&text);
        }
        if (high == 0) {
            if (open_from == 0 || low < open_from)
                open_from = low;
        } else if (high < low) {
            return 0;
        } else {
            ranges[n_ranges].low = low;
            ranges[n_ranges++].high = high;
        }
        if (*text == ',')
            text++;
        else if (*text)
            return 0;
    }
    return 1;
}

static int is_selected(unsigned long column)
{
    return selected[column / 8] >> column % 8 & 1;
}

int main(int argc, char **argv)
{
    if (argc < 3 || strncmp(argv[1], "-c", 2) != 0 || !parse(argv[1] + 2))
        return 2;
    unsigned long largest = 0;
    for (unsigned long i = 0; i < n_ranges; i++)
        if (ranges[i].high > largest)
            largest = ranges[i].high;
    selected = calloc(largest / 8 + 1, 1);
    for (unsigned long i = 0; i < n_ranges; i++)
        for (unsigned long column = ranges[i].low; column <= ranges[i].high; column++)
            selected[column / 8] |= (unsigned char)(1u << column % 8);
    /* A delimiter is only printed in front of what does not go on with a range before it. */
    int needs_delimiter = open_from != 0 && !is_selected(open_from);
    FILE *file = fopen(argv[2], "r");
    if (file == NULL)
        return 2;
    int c;
    for (unsigned long column = 1; (c = getc(file)) != EOF && c != '\n'; column++) {
        if (column == open_from && needs_delimiter)
            putchar(':');
        if ((open_from != 0 && column >= open_from) || (column <= largest && is_selected(column)))
            putchar(c);
    }
    putchar('\n');
    return 0;
}
